//! What a scenario can choose from, in short.

use longfat_control::CONTROLLERS;
use longfat_queue::DISCIPLINES;
use serde_json::json;

/// Every controller, by families, and every queue discipline: what it is called, what it is, and where it comes from.
///
/// ```text
///     {"version": "0.1.0",
///      "controllers": [{"name": "reno", "title": …, "source": …, "family": "loss"}, …],
///      "queues": [{"name": "red", "title": …, "source": …}, …]}
/// ```
pub fn catalogue() -> String {
    let mut controllers: Vec<_> = CONTROLLERS.iter().collect();
    controllers.sort_by_key(|entry| entry.family);
    let controllers = controllers.iter().map(|entry| {
        json!({
            "name": entry.name,
            "title": entry.title,
            "source": entry.source,
            "family": entry.family.name(),
        })
    });
    let queues = DISCIPLINES
        .iter()
        .map(|entry| json!({ "name": entry.name, "title": entry.title, "source": entry.source }));
    let told = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "controllers": controllers.collect::<Vec<_>>(),
        "queues": queues.collect::<Vec<_>>(),
    });
    told.to_string()
}
