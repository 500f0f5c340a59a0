//! Which controllers run on quinn: the table in the README, and what is wrong said before anything is sent.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use longfat_control::{CONTROLLERS, SlowStart, Start};
use longfat_quinn::{Adapter, FactoryError, Refusal, factory};
use longfat_scenario::Catalogue;
use quinn_proto::congestion::{Controller, ControllerFactory};

const BEGIN: &str = "<!-- controllers: UPDATE=1 cargo test -p longfat-quinn --test catalogue -->\n";
const END: &str = "<!-- end -->\n";

/// What becomes of each controller of the catalogue.
fn table() -> String {
    let row = |controller: &Arc<longfat_control::Controller>| {
        let fate = match factory(&*controller.name).build() {
            Ok(_) if hears_one_way_delays(controller) => {
                "runs, with round trips in place of one-way delays".into()
            }
            Ok(_) => "runs".into(),
            Err(FactoryError::Refused { reason, .. }) => format!("refused: {reason}"),
            Err(error) => panic!("{}: {error}", controller.name),
        };
        format!("| `{}` | {fate} |", controller.name)
    };
    let rows: Vec<String> = CONTROLLERS.iter().map(row).collect();
    format!("\n| controller | on quinn |\n|---|---|\n{}\n\n", rows.join("\n"))
}

fn hears_one_way_delays(controller: &longfat_control::Controller) -> bool {
    let sending = (controller.build)(&controller.defaults(), &Start::default());
    sending.windowed().is_some_and(|control| control.wants().one_way_delay)
}

#[test]
fn the_readme_has_what_becomes_of_each_controller() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = fs::read_to_string(&path).expect("it is there");
    let (before, rest) = text.split_once(BEGIN).expect("the table begins");
    let (written, after) = rest.split_once(END).expect("the table ends");
    let table = table();
    if std::env::var_os("UPDATE").is_some() {
        let text = [before, BEGIN, &table, END, after].concat();
        fs::write(&path, text).expect("it can be written");
    } else {
        assert_eq!(written, table, "UPDATE=1 brings the README up to date");
    }
}

#[test]
fn what_quinn_cannot_give_is_refused_with_the_reason() {
    for (name, reason) in [
        ("blitz", Refusal::Bursts),
        ("xcp", Refusal::RouterHeader),
        ("vcp", Refusal::RouterHeader),
        ("decbit", Refusal::RouterHeader),
        ("anti-ecn", Refusal::Spare),
        ("prague", Refusal::Ect1),
        ("dctcp", Refusal::CountedMarks),
        ("sized-start", Refusal::Access),
        ("bbr1", Refusal::DeliveryRate),
        ("bbr3", Refusal::DeliveryRate),
    ] {
        let error = factory(name).build().expect_err(name);
        assert_eq!(error, FactoryError::Refused { name: name.into(), reason });
        assert!(error.to_string().starts_with(&format!("`{name}` cannot run on quinn: it")));
    }
}

#[test]
fn what_a_controller_asks_for_depends_on_its_settings() {
    let reason = |built: Result<_, FactoryError>| match built.map(drop) {
        Err(FactoryError::Refused { reason, .. }) => Some(reason),
        other => other.map(|()| None).expect("nothing else is wrong"),
    };
    assert_eq!(reason(factory("fiber").build()), None);
    let each = factory("fiber").set("per_mark", true).build();
    assert_eq!(reason(each), Some(Refusal::CountedMarks));
    assert_eq!(reason(factory("scream").build()), Some(Refusal::Ect1));
    assert_eq!(reason(factory("scream").set("l4s", false).build()), None);
}

#[test]
fn settings_are_those_of_a_scenario() {
    let built = [
        factory("aimd").set("b", 0.3).set("a", 1),
        factory("aimd").set("b", "0.3").set("a", "auto"),
        factory("aimd").set("b", 7).set("b", 0.5),
        factory("{ kind = \"aimd\", b = 0.3 }"),
        factory("cw-hstcp").set("c", "10 /s"),
        factory("ledbat").set("target", "50 ms"),
        factory("cubic").initial_window(32.0).slow_start(SlowStart::HyStart),
    ];
    for builder in built {
        let shown = format!("{builder:?}");
        assert!(builder.build().is_ok(), "{shown}");
    }
}

#[test]
fn what_is_wrong_is_said_with_a_suggestion() {
    let mut catalogue = Catalogue::empty();
    catalogue.add_controller((**aimd()).clone()).expect("it is empty");
    for (builder, said) in [
        (factory("cubik"), "did you mean `cubic`?"),
        (factory("aimd").set("bb", 0.3), "`aimd` has no parameter `bb`"),
        (factory("aimd").set("b", 1.5), "`b` must be a number from 0 to 1"),
        (factory("aimd").set("b", f64::NAN), "`b` must be"),
        (factory("aimd").set("b", "half"), "`b` must be"),
        (factory("aimd").set("b = 0.1, a", 0.3), "`aimd` has no parameter `b = 0.1, a`"),
        (factory("a\"b\\c\n").set("b", "\u{7}\""), "there is no controller called"),
        (factory(""), "no controller is named"),
        (factory("reno").catalogue(catalogue), "there is no controller called `reno`"),
        (factory("reno").initial_window(0.5), "1 segment or more, not with 0.5"),
        (factory("reno").initial_window(f64::NAN), "not with NaN"),
    ] {
        let shown = format!("{builder:?}");
        let error = builder.build().expect_err(&shown).to_string();
        assert!(error.contains(said), "{shown}: {error}");
    }
}

fn aimd() -> &'static Arc<longfat_control::Controller> {
    CONTROLLERS.iter().find(|controller| controller.name == "aimd").expect("it is there")
}

fn built(name: &str, mtu: u16) -> Box<dyn Controller> {
    #[expect(clippy::disallowed_methods, reason = "an instant to begin with; there is no other")]
    let now = Instant::now();
    factory(name).build().expect("it runs").build(now, mtu)
}

/// RFC 9002, section 7.2: ten datagrams, but no more than 14 720 bytes or two of them. A byte more lets quinn send all of
/// them.
#[test]
fn the_first_window_is_that_of_the_rfc() {
    for (mtu, bytes) in [(1200, 12_000), (1472, 14_720), (4000, 14_720), (9000, 18_000)] {
        let controller = built("reno", mtu);
        assert_eq!((controller.initial_window(), controller.window()), (bytes, bytes + 1));
        assert_eq!(controller.metrics().congestion_window, bytes);
        assert_eq!(controller.metrics().ssthresh, None);
    }
}

#[test]
fn a_copy_goes_its_own_way() {
    #[expect(clippy::disallowed_methods, reason = "an instant to begin with; there is no other")]
    let now = Instant::now();
    let mut controller = built("reno", 1200);
    let copy = controller.clone_box();
    controller.on_sent(now, 12_000, 9);
    controller.on_congestion_event(now, now, false, 1200);
    assert_eq!((controller.window(), copy.window()), (6001, 12_001));
    let adapter = controller.into_any().downcast::<Adapter>().expect("it is one");
    assert_eq!((adapter.responses(), adapter.control().window().0), (1, 5.0));
}
