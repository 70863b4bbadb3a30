//! Printing that does not mind when nobody reads any more (`postern record list | head`): std's own
//! macros panic then.

macro_rules! println {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(anstream::stdout(), $($words)*);
    }};
}

macro_rules! eprintln {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(anstream::stderr(), $($words)*);
    }};
}

pub(crate) use {eprintln, println};
