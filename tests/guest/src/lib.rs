//! A guest's root: the bindings that a generated module stands on.

wit_bindgen::generate!({ path: "../../wit", world: "script", generate_all });
