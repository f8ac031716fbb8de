//! Who is told, who is asked, who is left alone.

use std::fs;
use std::path::Path;

use testkit::receiver::{Receiver, otlp};

use crate::user::{PROGRAM, User};

const NOTICE: &str = "Builds count which kustomization fields are used: names of fields and how often, none of your data.\n";

fn user_with(receiver: &Receiver) -> User {
    let mut user = User::new();
    user.write_app();
    user.set("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.url());
    user
}

#[test]
fn the_first_run_tells_and_the_second_sends() {
    let receiver = Receiver::start();
    let user = user_with(&receiver);
    let first = user.run_on_terminal(&["build", "app"]);
    assert!(first.stderr.starts_with(NOTICE), "{}", first.stderr);
    let to = format!(
        "sent to {}",
        "otlp, set by OTEL_EXPORTER_OTLP_ENDPOINT in the environment."
    );
    assert!(first.stderr.contains(&to), "{}", first.stderr);
    assert_eq!(first.code, Some(0));
    let sent = user.run(&["usage", "send"]);
    assert_eq!(sent.stdout, "nothing waits\n", "the first run left nothing");
    assert!(receiver.received().is_empty());

    let second = user.run_on_terminal(&["build", "app"]);
    assert_eq!(second.stderr, "");
    assert_eq!(second.stdout, first.stdout);
    // A process of its own has sent it, without being asked.
    let received = receiver.wait(1);
    let sums = otlp::read(&received[0]).sums();
    assert_eq!(sums["kustomize.fields{field=configMapGenerator}"], 2);
    assert_eq!(sums["kustomize.fields{field=namePrefix}"], 1);
}

#[test]
fn without_an_endpoint_nothing_leaves() {
    let user = User::new();
    user.write_app();
    let first = user.run_on_terminal(&["build", "app"]);
    assert!(first.stderr.starts_with(NOTICE), "{}", first.stderr);
    let here = "They stay on this machine, and are sent only to an endpoint that somebody sets. None is set.\n";
    assert!(first.stderr.contains(here), "{}", first.stderr);
    user.run_on_terminal(&["build", "app"]);
    let shown = user.run_on_terminal(&["usage", "show"]);
    assert!(shown.stdout.contains("configMapGenerator.literals"));
    assert!(shown.stdout.contains("nowhere"), "{}", shown.stdout);
    let sent = user.run(&["usage", "send"]);
    assert_eq!(sent.stdout, "nothing is sent: no endpoint is set\n");
}

#[test]
fn whoever_opts_out_is_left_alone() {
    let receiver = Receiver::start();
    for (name, value) in [
        ("KUSTOMIZE_EXPORT_METRICS", "none"),
        ("DO_NOT_TRACK", "1"),
        ("OTEL_SDK_DISABLED", "true"),
    ] {
        let mut user = user_with(&receiver);
        user.set(name, value);
        for _ in 0..2 {
            let done = user.run_on_terminal(&["build", "app"]);
            assert_eq!(done.stderr, "", "{name}");
        }
        assert!(user.kept().is_empty(), "{name}");
        let state = user.run(&["config", "get"]).stdout;
        assert!(state.starts_with("recording: off\n"), "{state}");
        assert!(state.contains(name), "{state}");
        assert!(!state.contains("To switch it off"), "{state}");
        let sent = user.run(&["usage", "send"]).stdout;
        assert!(sent.starts_with("nothing is sent: "), "{sent}");
    }
    assert!(receiver.received().is_empty());
}

#[test]
fn machines_are_left_alone() {
    let mut user = User::new();
    user.write_app();
    user.run(&["build", "app"]);
    user.set("CI", "true");
    user.run(&["build", "app"]);
    user.run_on_terminal(&["build", "app"]);
    assert!(user.kept().is_empty());
    let state = user.run_on_terminal(&["config", "get"]).stdout;
    assert!(state.contains("CI is set in the environment"), "{state}");
    let receiver = Receiver::start();
    user.set("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", &receiver.url());
    let done = user.run(&["build", "app"]);
    assert_eq!(done.stderr, "", "who set it need not be told");
    receiver.wait(1);
}

#[test]
fn the_words_of_the_notice_work() {
    let receiver = Receiver::start();
    let user = user_with(&receiver);
    let kustomize = user.home.join("kustomize");
    std::os::unix::fs::symlink(PROGRAM, &kustomize).expect("a link");
    // As it was called, so it is named.
    for (arguments, name) in [
        (&["build", "app"][..], "pilothouse"),
        (&["kustomize", "build", "app"], "pilothouse kustomize"),
    ] {
        let other = user_with(&receiver);
        let told = other.run_on_terminal(arguments).stderr;
        let line = format!("    {name} config set KUSTOMIZE_EXPORT_METRICS=none\n");
        assert!(told.ends_with(&line), "{told}");
    }
    let words = ["config", "set", "KUSTOMIZE_EXPORT_METRICS", "none"];
    let done = user.run_program(&kustomize, &words);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stdout.starts_with("recording: off\n"));
    let on = "To switch it on: kustomize config unset KUSTOMIZE_EXPORT_METRICS\n";
    assert!(done.stdout.ends_with(on), "{}", done.stdout);
    let words = ["config", "set", "KUSTOMIZE_EXPORT_METRICS=none"];
    assert_eq!(user.run_program(&kustomize, &words).stdout, done.stdout);
    user.run_program(&kustomize, &["build", "app"]);
    let get = ["config", "get", "KUSTOMIZE_EXPORT_METRICS"];
    assert_eq!(user.run(&get).stdout, "none\n");
    assert!(receiver.received().is_empty());
    assert!(!user.home.join(".local").exists());

    let unset = ["config", "unset", "KUSTOMIZE_EXPORT_METRICS"];
    let done = user.run_program(&kustomize, &unset);
    assert!(done.stdout.starts_with("recording: on\n"));
    user.run_program(&kustomize, &["build", "app"]);
    receiver.wait(1);
    let wrong = user.run(&["config", "set", "KUSTOMIZE_EXPORT_METRICS=x"]);
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.stderr.contains("s3://BUCKET"), "{}", wrong.stderr);
}

#[test]
fn a_broken_setting_is_told_and_fails_nothing() {
    let receiver = Receiver::start();
    let user = user_with(&receiver);
    user.write(".config/pilothouse/config", "KUSTOMIZE_EXPORT_METRICS\n");
    let done = user.run(&["build", "app"]);
    assert_eq!(done.code, Some(0));
    let (config, rest) = (
        user.home.join(".config/pilothouse/config"),
        ": line 1: there is no KEY=VALUE\n",
    );
    assert_eq!(
        done.stderr,
        format!("Warning: usage is not recorded: {}{rest}", config.display())
    );
    assert!(receiver.received().is_empty());
    assert!(!user.home.join(".local").exists());
}

#[test]
fn the_result_is_the_same_whatever_happens() {
    let mut plain = User::new();
    plain.write_app();
    plain.set("DO_NOT_TRACK", "1");
    let wanted = plain.run(&["build", "app"]);
    let wrong = plain.run(&["build", "nowhere"]);
    let nobody = Receiver::start().url();
    for endpoint in ["http://no.such.host.invalid", &nobody, "nonsense://", ""] {
        let mut user = User::new();
        user.write_app();
        user.set("KUSTOMIZE_EXPORT_METRICS", "otlp");
        user.set("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
        let done = user.run(&["build", "app"]);
        assert_eq!(
            (done.code, done.stdout, done.stderr),
            (Some(0), wanted.stdout.clone(), String::new())
        );
        let done = user.run(&["build", "nowhere"]);
        assert_eq!(done.code, wrong.code);
        let place = |text: &str, user: &User| text.replace(&*user.home.to_string_lossy(), "");
        assert_eq!(place(&done.stderr, &user), place(&wrong.stderr, &plain));
    }
    // Nor if nothing can be written.
    let mut user = User::new();
    user.write_app();
    user.set("KUSTOMIZE_EXPORT_METRICS", "otlp");
    user.write(".local", "no directory");
    let done = user.run(&["build", "app"]);
    assert_eq!(
        (done.code, done.stdout, done.stderr),
        (Some(0), wanted.stdout, String::new())
    );
}

#[test]
fn many_builds_at_once_are_all_counted() {
    let receiver = Receiver::start();
    let user = user_with(&receiver);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(user.run(&["build", "app"]).code, Some(0)));
        }
    });
    user.flush();
    let builds = "kustomize.builds{outcome=success,";
    let mut count = 0;
    for it in receiver.received() {
        let sums = otlp::read(&it).sums();
        let found = sums
            .into_iter()
            .filter(|(name, _)| name.starts_with(builds));
        count += found.map(|(_, count)| count).sum::<i64>();
    }
    assert_eq!(count, 8);
}

#[test]
fn settings_are_the_users_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let user = User::new();
    user.run(&["config", "set", "KUSTOMIZE_EXPORT_METRICS=none"]);
    let config = user.home.join(".config/pilothouse/config");
    let mode = |path: &Path| {
        fs::metadata(path)
            .expect("it is there")
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode(&config), 0o600);
    let mut user = User::new();
    user.write_app();
    user.set("KUSTOMIZE_EXPORT_METRICS", "otlp");
    user.set("OTEL_EXPORTER_OTLP_ENDPOINT", "http://no.such.host.invalid");
    user.run(&["build", "app"]);
    assert_eq!(
        mode(&user.home.join(".local/state/pilothouse/usage/waiting")),
        0o700
    );
}
