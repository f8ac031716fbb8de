//! `fn run`: what functions see, and what becomes of what they give. The texts are what kustomize 5.8.1 writes.

use std::fs;

use kustomize::cfg::{Input, OneFunction, RunOptions, run};
use kustomize::{Disk, Error, Finished, FunctionOptions, Host, Program};

/// A program that is a function here.
struct Fake<F>(F);

impl<F: Fn(&str) -> Finished> Host for Fake<F> {
    fn run(&self, program: &Program) -> Result<Finished, Error> {
        Ok((self.0)(&String::from_utf8_lossy(&program.input)))
    }
}

fn gives(output: impl Into<String>) -> Finished {
    Finished {
        success: true,
        output: output.into().into_bytes(),
        ..Finished::default()
    }
}

fn options() -> RunOptions {
    RunOptions {
        function: Some(OneFunction {
            image: String::new(),
            program: "/fn".into(),
            arguments: vec!["a=b".into(), "c=1".into()],
        }),
        directory: "/work".into(),
        functions: FunctionOptions {
            enable_exec: true,
            ..FunctionOptions::default()
        },
        ..RunOptions::default()
    }
}

const DEPLOYMENT: &str = "\
# head
apiVersion: apps/v1 # line
kind: Deployment
metadata:
  # above
  name: web
spec:
  replicas: 1 # how many
  template:
    spec:
      containers:
      # first
      - name: a
        image: x:1 # img
";

#[test]
fn a_function_sees_resources_and_its_configuration() {
    let seen = std::cell::RefCell::new(String::new());
    let host = Fake(|input: &str| {
        input.clone_into(&mut seen.borrow_mut());
        gives(input)
    });
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n";
    let output = run(&Disk, &host, Input::Text(text.as_bytes()), &options()).expect("it runs");
    // A resource without a file gets one.
    assert_eq!(
        output,
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  annotations:\n    internal.config.kubernetes.io/path: 'configmap_x.yaml'\n    config.kubernetes.io/path: 'configmap_x.yaml'\n"
    );
    assert_eq!(
        *seen.borrow(),
        "\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: x
    annotations:
      config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/annotations-migration-resource-id: '0'
      internal.config.kubernetes.io/id: '1'
      config.k8s.io/id: '1'
functionConfig:
  metadata:
    name: function-input
    annotations:
      config.kubernetes.io/function: |
        exec: {path: /fn}
  data: {a: b, c: 1}
  kind: ConfigMap
  apiVersion: v1
"
    );
}

#[test]
fn comments_and_order_come_back_and_files_follow() {
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str| dir.path().join(name);
    fs::write(at("dep.yaml"), DEPLOYMENT).expect("a file");
    let service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n";
    fs::write(at("svc.yaml"), service).expect("a file");
    // Gives the Deployment in another order and without comments, no Service, and something new.
    let host = Fake(|_: &str| {
        gives(
            "\
kind: ResourceList
apiVersion: config.kubernetes.io/v1
items:
- kind: Deployment
  spec:
    template:
      spec:
        containers:
        - image: x:1
          name: a
    replicas: 5
  metadata:
    annotations:
      config.k8s.io/id: '1'
      internal.config.kubernetes.io/id: '1'
      config.kubernetes.io/index: '0'
      config.kubernetes.io/path: dep.yaml
    name: web
  apiVersion: apps/v1
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: new
    namespace: ns
",
        )
    });
    let path = dir.path().to_string_lossy().into_owned();
    let printed = run(&Disk, &host, Input::Path(&path), &options()).expect("it runs");
    assert_eq!(printed, "");
    let read = |name: &str| fs::read_to_string(at(name)).expect("a file");
    assert_eq!(
        read("dep.yaml"),
        DEPLOYMENT.replace("replicas: 1", "replicas: 5")
    );
    assert_eq!(
        read("ns/configmap_new.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: new\n  namespace: ns\n"
    );
    assert!(!at("svc.yaml").exists());
}

#[test]
fn a_function_sees_what_is_below_it_and_failures_write_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("sub/functions")).expect("directories");
    fs::write(at("dep.yaml"), DEPLOYMENT).expect("a file");
    fs::write(at("sub/dep.yaml"), DEPLOYMENT).expect("a file");
    let function = "apiVersion: v1\nkind: Fn\nmetadata:\n  name: f\n  annotations:\n    config.kubernetes.io/function: |\n      exec:\n        path: /fn\n";
    fs::write(at("sub/functions/fn.yaml"), function).expect("a file");
    let by_annotation = RunOptions {
        function: None,
        ..options()
    };
    let path = dir.path().to_string_lossy().into_owned();
    let more = Fake(|input: &str| gives(input.replace("replicas: 1", "replicas: 5")));
    run(&Disk, &more, Input::Path(&path), &by_annotation).expect("it runs");
    let read = |name: &str| fs::read_to_string(at(name)).expect("a file");
    assert_eq!(read("dep.yaml"), DEPLOYMENT);
    assert_eq!(
        read("sub/dep.yaml"),
        DEPLOYMENT.replace("replicas: 1", "replicas: 5")
    );
    let fails = Fake(|_: &str| Finished {
        status: "exit status 3".into(),
        ..Finished::default()
    });
    let failed = run(&Disk, &fails, Input::Path(&path), &by_annotation);
    assert_eq!(
        failed.map_err(|error| error.to_string()),
        Err("exit status 3".into())
    );
    assert!(at("sub/dep.yaml").exists());
}

/// A machine with some programs, which tells what it is asked to run.
struct Machine {
    programs: &'static [&'static str],
    asked: std::cell::RefCell<Vec<String>>,
    output: &'static str,
}

impl Host for Machine {
    fn run(&self, program: &Program) -> Result<Finished, Error> {
        let mut words = vec![program.path.clone()];
        words.extend(program.arguments.iter().cloned());
        self.asked.borrow_mut().push(words.join(" "));
        Ok(gives(self.output))
    }

    fn find(&self, program: &str) -> Option<String> {
        let there = self.programs.contains(&program);
        there.then(|| format!("/bin/{program}"))
    }
}

fn build_with(machine: &Machine, container: &str) -> Result<String, String> {
    let dir = tempfile::tempdir().expect("a directory");
    let function = format!(
        "apiVersion: example.com/v1\nkind: F\nmetadata:\n  name: f\n  annotations:\n    config.kubernetes.io/function: |\n      container: {container}\n"
    );
    fs::write(dir.path().join("f.yaml"), function).expect("a file");
    let text = "generators: [f.yaml]\n";
    fs::write(dir.path().join("kustomization.yaml"), text).expect("a file");
    let options = kustomize::Options {
        enable_plugins: true,
        ..kustomize::Options::default()
    };
    let output = kustomize::build(&Disk, machine, &dir.path().to_string_lossy(), &options);
    let text = output.and_then(|it| it.to_yaml());
    text.map_err(|error| error.to_string())
}

#[test]
fn containers_run_by_docker_and_by_podman_if_there_is_nothing_else() {
    for (programs, engine) in [
        (&["docker", "podman"][..], "docker"),
        (&["podman"], "podman"),
        (&[], "docker"),
    ] {
        let machine = Machine {
            programs,
            asked: std::cell::RefCell::default(),
            output: "",
        };
        let container = "{image: x:1, envs: [ZONE=a, PASSED, ALPHA=b=c, PASSED, ZONE=d]}";
        assert_eq!(build_with(&machine, container).as_deref(), Ok(""));
        let asked = format!(
            "{engine} run --rm -i -a STDIN -a STDOUT -a STDERR --network none --user nobody --security-opt=no-new-privileges -e ALPHA=b=c -e LOG_TO_STDERR=true -e STRUCTURED_RESULTS=true -e ZONE=d -e PASSED x:1"
        );
        assert_eq!(*machine.asked.borrow(), [asked]);
    }
}

#[test]
fn what_goes_wrong_around_a_container_is_told_with_a_blank_at_the_end() {
    let machine = Machine {
        programs: &[],
        asked: std::cell::RefCell::default(),
        output: "{a: [\n",
    };
    let what = |container| build_with(&machine, container).expect_err("it fails");
    assert_eq!(
        what("{image: x:1}"),
        "couldn't execute function: MalformedYAMLError: yaml: line 1: did not find expected node content "
    );
    assert_eq!(
        what("{image: x:1, network: true}"),
        "couldn't execute function: network required but not enabled with --network "
    );
}
