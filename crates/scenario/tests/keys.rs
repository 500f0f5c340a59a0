//! What the tables of keys say is what is read.

use std::collections::BTreeSet;

use longfat_scenario::keys::{Accepts, TABLES};

use crate::{BASE, base, read};

#[test]
fn every_table_that_a_key_names_is_there_and_every_table_is_named() {
    fn named(accepts: &[Accepts], found: &mut BTreeSet<&'static str>) {
        for each in accepts {
            match each {
                Accepts::Table(name) | Accepts::Tables(name) => {
                    found.insert(name);
                }
                Accepts::List(of) | Accepts::Pair(of) => named(of, found),
                _ => {}
            }
        }
    }
    let mut found = BTreeSet::from(["scenario"]);
    for key in TABLES.iter().flat_map(|table| table.keys) {
        assert!(!key.about.is_empty() && !key.accepts.is_empty(), "{}", key.name);
        named(key.accepts, &mut found);
    }
    assert_eq!(found, TABLES.iter().map(|table| table.name).collect());
}

#[test]
fn words_are_those_that_are_read() {
    let flow = TABLES.iter().find(|table| table.name == "flow").expect("a table");
    for name in ["recovery", "rto_estimator", "rto_restart", "ecn_feedback", "window_validation"] {
        let key = flow.keys.iter().find(|each| each.name == name).expect("a key");
        let word = |each: &Accepts| if let Accepts::Word(word) = each { Some(*word) } else { None };
        let words: Vec<&str> = key.accepts.iter().filter_map(word).collect();
        for word in &words {
            base(&[&format!("flow.forward.{name}={word}")]);
        }
        let none = format!("flow.forward.{name}=none-of-them");
        let error = read(BASE, &[&none]).expect_err("there is no such word");
        let message = &error.diagnostics()[0].message;
        let (must_be, _) = message.split_once(", but").expect("what it is instead");
        assert_eq!(must_be.split('"').skip(1).step_by(2).collect::<Vec<_>>(), words, "{message}");
    }
}
