//! An etcd that takes connections and says nothing: it is in the log, and the server lives.

use json::json;
use testkit::etcd::Cluster;

use super::program::{Program, until};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[testkit::requires(etcd)]
#[test]
fn a_silent_etcd_is_told_of_once_and_so_is_its_return() {
    let found = Cluster::find();
    let cluster = found.start();
    let server = Program::serve(&["--etcd-servers", &cluster.endpoints().join(",")]);
    let log = || std::fs::read_to_string(server.place().join("stderr")).unwrap();
    let nobody = server.admin().anonymous();
    assert_eq!(nobody.get("/readyz").code, 200);

    cluster.freeze(0);
    // Nobody asks for anything: the server notices by itself.
    until("the log says that etcd is silent", || {
        log().contains("\"Health check failed\" check=\"etcd\"")
    });
    let text = log();
    assert!(
        text.contains("check=\"etcd\"") && text.contains("etcd http"),
        "{text}"
    );
    let alive = nobody.get("/livez?verbose").expect(200).body;
    assert!(alive.contains("[+]etcd excluded: ok\n"), "{alive}");
    let withheld = nobody.get("/readyz").expect(500).body;
    assert!(
        withheld.contains("[-]etcd failed: reason withheld\n"),
        "{withheld}"
    );
    assert!(!withheld.contains("storage failed"), "{withheld}");
    let told = server.admin().get("/readyz").expect(500).body;
    assert!(
        told.contains("[-]etcd failed: ") && told.contains("etcd http"),
        "{told}"
    );
    let map = json!({"metadata": {"name": "a"}});
    let answer = server.admin().post(MAPS, &map);
    assert!(matches!(answer.code, 503 | 504), "{answer:?}");

    cluster.thaw(0);
    until("the log says that it is back", || {
        log().contains("\"Health check passes again\" check=\"etcd\"")
    });
    until("ready", || nobody.get("/readyz").code == 200);
    let failures = log().matches("Health check failed").count();
    assert!(failures <= 2, "{}", log());
}
