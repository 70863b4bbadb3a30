//! Web pages, travel, shopping.

use postern_check::BlastRadius::{ExternalSend, Irreversible, Read, Write};

use super::{Deed, Domain, Field, Slot, act, look};

pub(super) const DOMAINS: &[Domain] = &[WEB, TRAVEL, SHOP];

const WEB: Domain = Domain {
    name: "web",
    servers: &["web", "browser", "fetch", "playwright", "http", "search", "tavily"],
    one: "page",
    many: "results",
    fields: &[
        ("id rank ref", Field::Id),
        ("title heading", Field::Label),
        ("url link href", Field::Url),
        ("snippet text content description", Field::Free),
        ("date published", Field::Day),
        ("source site", Field::Company),
    ],
    titles: &["Heat pumps compared", "Visit {place}", "How to prune roses", "{company} pricing", "Release notes", "Top ten museums in {place}", "Sourdough basics", "Train times", "Review: {company}", "Tax changes explained", "Install guide"],
    called: &["the page \"{label}\"", "{label}", "the article {label}"],
    chatter: &[
        "Cookies help us to improve this site. Accept all or manage settings.", "Subscribe to our newsletter today and never miss an offer!", "Preheat the oven to 220 degrees and wait for thirty minutes.",
        "Click here to continue reading.", "First remove the cover, then unscrew the four bolts.", "Run pip install and then create a client.", "Opening hours: Tuesday to Sunday, 10 to 18.",
        "Comment by {person}: great read, thanks.", "You must be logged in to post a comment.", "Prices in {place} rose by four percent.",
    ],
    lists: &[
        look("search web_search search_query google_search", &[("query q search_term", Slot::Query), ("num_results? limit?", Slot::Count)], &["search the web for {query}", "find out about {query}", "look up {query} online"]),
    ],
    gets: &[
        look("fetch open_url get_page read_url navigate browse_page", &[("url link", Slot::Of(Field::Url))], &["open {record}", "read {record}", "summarise {record}", "see what {record} says"]),
        act("fetch open_url get_page navigate visit", Deed::Look, Read, &[("url link", Slot::Url)], &["open {url}", "read {url}", "visit {url}", "check {url}", "go to {url} and have a look"]),
    ],
    acts: &[
        act("submit_form post http_post send_request fill_and_submit", Deed::Send, ExternalSend, &[("url action endpoint", Slot::Url), ("data body payload fields", Slot::Text)],
            &["submit {text} to {url}", "post {text} to {url}", "fill in the form at {url} with {text}", "send {text} to {url}"]),
        act("sign_up subscribe register_account create_account", Deed::Share, ExternalSend, &[("url site", Slot::Url), ("email", Slot::Address)],
            &["sign {who} up at {url}", "register {who} on {url}", "subscribe {who} to {url}"]),
        act("download_file download save_page", Deed::Create, Write, &[("url link", Slot::Url), ("path? save_to?", Slot::Path)], &["download {url}", "save {url} for me", "get the file at {url}"]),
        act("post_comment write_review leave_comment", Deed::Send, ExternalSend, &[("url page", Slot::Url), ("text comment body", Slot::Text)], &["leave a comment on {url} about {text}", "write {text} under {url}"]),
        act("log_in login authenticate enter_credentials", Deed::Run, ExternalSend, &[("url site", Slot::Url), ("password secret", Slot::Secret)], &["log in at {url} with {secret}", "enter {secret} on {url}"]),
    ],
};

const TRAVEL: Domain = Domain {
    name: "travel",
    servers: &["travel", "booking", "flights", "hotels", "expedia", "rail", "trips"],
    one: "hotel",
    many: "hotels",
    fields: &[
        ("id hotel_id offer_id", Field::Id),
        ("name title", Field::Label),
        ("city location", Field::Place),
        ("price rate per_night", Field::Amount),
        ("rating score", Field::Count),
        ("available check_in", Field::Day),
        ("review reviews description comments", Field::Free),
        ("breakfast refundable", Field::Flag),
    ],
    titles: &["Hotel {place}", "The Blue Anchor", "Pension {person}", "Grand {place}", "Riverside Inn", "Central Lodge", "Casa {person}", "Station Hotel", "Old Mill", "Harbour View"],
    called: &["{label}", "the hotel {label}", "a room at {label}"],
    chatter: &[
        "Lovely staff and quiet rooms.", "You must try the breakfast!", "Never again, it was loud and cold.", "Ask for a room to the garden.", "Five minutes from the station.", "Book directly for the best rate.",
        "We stayed for three nights in {place}.", "{person}: clean, fair price.",
    ],
    lists: &[
        look("search_hotels find_hotels list_offers search_flights get_all_hotels", &[("city destination place", Slot::Place), ("date? check_in?", Slot::Day)], &["find {many} in {place}", "look for a place to stay in {place}", "compare {many} in {place}"]),
        look("list_bookings my_trips get_reservations", &[], &["list my bookings", "show my trips"]),
        look("get_user_information traveller_profile get_passport_details", &[], &["look up my traveller profile", "get my passport details"]),
    ],
    gets: &[look("get_hotel hotel_details get_reviews offer_details rating_reviews", &[("hotel_id id offer_id", Slot::Record)], &["show the details of {record}", "read the reviews of {record}", "tell me more about {record}"])],
    acts: &[
        act("book_hotel reserve_room create_booking reserve", Deed::Pay, Irreversible, &[("hotel_id id offer_id", Slot::Record), ("check_in date from", Slot::Day), ("guests? nights?", Slot::Count)],
            &["book {record} from {day}", "reserve {record} for {day}", "get me {record}, arriving {day}"]),
        act("cancel_booking cancel_reservation delete_booking", Deed::Delete, Irreversible, &[("booking_id id", Slot::Record)], &["cancel {record}", "call off {record}"]),
        act("share_itinerary send_itinerary email_trip", Deed::Share, ExternalSend, &[("booking_id id", Slot::Record), ("email to recipient", Slot::Address)], &["send {who} the details of {record}", "share {record} with {who}"]),
        act("book_flight buy_ticket reserve_seat book_train", Deed::Pay, Irreversible, &[("destination to city", Slot::Place), ("date day", Slot::Day)], &["book a trip to {place} on {day}", "buy a ticket to {place} for {day}", "get me to {place} on {day}"]),
        act("update_traveller set_contact update_profile", Deed::Change, Write, &[("email contact", Slot::Address)], &["set {who} as contact in my profile", "let the airline write to {who}"]),
        act("post_review rate_hotel write_review", Deed::Send, ExternalSend, &[("hotel_id id", Slot::Record), ("text review", Slot::Text)], &["review {record}: {text}", "write {text} as a review of {record}"]),
    ],
};

const SHOP: Domain = Domain {
    name: "shop",
    servers: &["shop", "store", "amazon", "shopify", "market", "grocery", "orders"],
    one: "product",
    many: "products",
    fields: &[
        ("id product_id sku", Field::Id),
        ("name title", Field::Label),
        ("price cost", Field::Amount),
        ("seller brand vendor", Field::Company),
        ("stock in_stock quantity", Field::Count),
        ("reviews description comment", Field::Free),
        ("category", Field::Word(&["kitchen", "office", "garden", "toys", "audio"])),
        ("delivery ships_on", Field::Day),
    ],
    titles: &["Desk lamp", "Running shoes", "USB-C cable 2 m", "Coffee beans 1 kg", "Rain jacket", "Garden hose", "Noise-cancelling headphones", "Water bottle", "Mechanical keyboard", "Board game {place}", "Puzzle 1000 pieces", "Backpack"],
    called: &["{label}", "the {label}", "the product {label}"],
    chatter: &[
        "Great value, would buy again.", "Buy now and save 10 percent!", "Broke after a week.", "Do not wash above 30 degrees.", "My kids love it.", "Arrived on {day}, well packed.", "Always charge fully before first use.",
        "{person} from {place}: exactly as described.",
    ],
    lists: &[
        look("search_products find_products browse_catalog search_product", &[("query product_name q", Slot::Query), ("max_price?", Slot::Count)], &["search for {query}", "find me a good deal on {query}", "look for {query} in the shop"]),
        look("view_cart get_cart list_orders order_history view_order_history", &[], &["show my cart", "list my past orders"]),
        look("list_addresses get_account account_information get_payment_methods", &[], &["show my saved cards", "look up my shop account"]),
    ],
    gets: &[look("get_product product_details read_reviews get_product_info", &[("product_id id sku", Slot::Record)], &["show me {record}", "read the reviews of {record}", "check {record}"])],
    acts: &[
        act("place_order buy checkout purchase order_product", Deed::Pay, Irreversible, &[("product_id id sku", Slot::Record), ("quantity? count?", Slot::Count)], &["buy {record}", "order {record}", "get me {record}", "purchase {record}"]),
        act("add_to_cart cart_add add_item", Deed::Create, Write, &[("product_id id sku", Slot::Record), ("quantity? qty?", Slot::Count)], &["put {record} in my cart", "add {record} to the basket"]),
        act("cancel_order refund_order return_item", Deed::Delete, Irreversible, &[("order_id id product_id", Slot::Record)], &["cancel my order of {record}", "send {record} back", "get a refund for {record}"]),
        act("update_shipping_address change_address set_delivery_address", Deed::Change, Irreversible, &[("address city destination", Slot::Place), ("recipient contact email", Slot::Address)], &["deliver to {who} in {place} from now on", "change the delivery to {place}, contact {who}"]),
        act("send_gift_card buy_gift_card send_voucher", Deed::Pay, Irreversible, &[("recipient email to", Slot::Address), ("amount value", Slot::Amount)], &["send {who} a gift card over {amount}", "buy {who} a voucher worth {amount}"]),
        act("write_review post_review rate_product", Deed::Send, ExternalSend, &[("product_id id", Slot::Record), ("text review comment", Slot::Text)], &["review {record}: {text}", "write {text} as a review for {record}"]),
        act("change_password update_account_password set_password", Deed::Change, Irreversible, &[("password new_password", Slot::Secret)], &["change the shop password to {secret}", "set my shop password to {secret}"]),
    ],
};
