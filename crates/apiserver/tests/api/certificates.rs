//! Client certificates: whose they are, and for how long.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use apiserver::authenticate::FrontProxies;
use apiserver::pipeline::Caller;
use apiserver::server::Peer;
use apiserver::tls::ClientAuthority;
use auth::token_file::StaticTokens;
use auth::{RequestHeader, x509};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use rustls::pki_types::CertificateDer;

use crate::fixture::Fixture;

type Authority = CertifiedIssuer<'static, KeyPair>;

const WHO: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const HOUR: Duration = Duration::from_secs(3600);

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// For a client of this name, until so long after now or before it.
fn client(authority: &Authority, name: &str, end: SystemTime) -> CertificateDer<'static> {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.distinguished_name = DistinguishedName::new();
    if !name.is_empty() {
        params.distinguished_name.push(DnType::CommonName, name);
    }
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params.not_before = (end - 48 * HOUR).into();
    params.not_after = end.into();
    let key = KeyPair::generate().unwrap();
    params.signed_by(&key, authority).unwrap().der().clone()
}

fn fixture(clients: &Authority, proxies: Option<&Authority>) -> Fixture {
    let authority = |it: &Authority| ClientAuthority::new(vec![it.der().clone()]).unwrap();
    Fixture::with(|config| {
        let authentication = &mut config.authentication;
        authentication.clients = Some(authority(clients));
        authentication.proxies = proxies.map(|it| FrontProxies {
            authority: authority(it),
            headers: RequestHeader {
                username_headers: vec!["X-Remote-User".into()],
                ..RequestHeader::default()
            },
        });
        let tokens = "secret,joe,joe-uid";
        authentication.ways.static_tokens = StaticTokens::parse(tokens).unwrap();
    })
}

fn peer(certificate: &CertificateDer<'static>) -> Peer {
    Peer {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 1)),
        certificates: vec![certificate.clone()],
    }
}

/// The code of a request, or the name of its sender.
async fn who(fixture: &Fixture, caller: &Caller, headers: &[(&str, &str)]) -> String {
    let mut all = vec![("content-type", "application/json")];
    all.extend_from_slice(headers);
    let answer = fixture.request_of(caller, "POST", WHO, &all, "{}").await;
    if answer.code == 401 {
        return "401".to_owned();
    }
    // Nobody may review who has no rights at all, but the refusal names them.
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let names = ["ann", "joe", "proxied", "system:anonymous"];
    let named = |it: &&str| text.contains(&format!("User \\\"{it}\\\" cannot"));
    (*names.iter().find(|it| named(it)).unwrap_or(&&*text)).to_owned()
}

#[tokio::test]
async fn an_untrusted_certificate_makes_nobody_anonymous() {
    let (ours, proxies) = (authority(), authority());
    let later = SystemTime::now() + HOUR;
    let (good, bad) = (
        client(&ours, "ann", later),
        client(&authority(), "ann", later),
    );
    let nameless = client(&ours, "", later);
    let expired = client(&ours, "ann", SystemTime::now() - HOUR);
    let basic = "Basic YW5uOmFubg==";
    for with_proxies in [false, true] {
        let fixture = fixture(&ours, with_proxies.then_some(&proxies));
        let who = async |certificate, authorization: Option<&'static str>| {
            let caller = fixture.api.caller(peer(certificate));
            let headers: Vec<_> = authorization
                .map(|it| ("authorization", it))
                .into_iter()
                .collect();
            who(&fixture, &caller, &headers).await
        };
        for certificate in [&bad, &expired] {
            assert_eq!(who(certificate, None).await, "401");
            assert_eq!(who(certificate, Some(basic)).await, "401");
            assert_eq!(who(certificate, Some("Bearer x")).await, "401");
            assert_eq!(who(certificate, Some("")).await, "401");
            assert_eq!(who(certificate, Some("Bearer secret")).await, "joe");
        }
        assert_eq!(who(&good, Some(basic)).await, "ann");
        // It leads to an authority of ours and names nobody; upstream takes that for no credential, unless it also
        // looked whether it is a proxy's.
        let nobody = if with_proxies {
            "401"
        } else {
            "system:anonymous"
        };
        assert_eq!(who(&nameless, Some(basic)).await, nobody);
    }
}

#[tokio::test]
async fn a_certificate_that_expires_on_an_open_connection_counts_no_more() {
    let (ours, proxies) = (authority(), authority());
    let fixture = fixture(&ours, Some(&proxies));
    let headers = [("x-remote-user", "proxied")];
    for (end, ann, proxied) in [
        (SystemTime::now() + HOUR, "ann", "proxied"),
        (SystemTime::now() - HOUR, "401", "401"),
    ] {
        // As the connection was begun, before the certificate's end.
        let certificate = client(&ours, "ann", end);
        let validity = x509::validity(&certificate).unwrap();
        let user = x509::user(&certificate, validity.0).unwrap().unwrap();
        let caller = Caller::Remote {
            peer: peer(&certificate),
            trusted: true,
            known: Some((Arc::new(user), validity)),
            proxy: None,
            memory: Arc::default(),
            encoded: std::sync::OnceLock::new(),
        };
        assert_eq!(who(&fixture, &caller, &[]).await, ann);
        let certificate = client(&proxies, "proxy", end);
        let caller = Caller::Remote {
            peer: peer(&certificate),
            trusted: false,
            known: None,
            proxy: x509::validity(&certificate),
            memory: Arc::default(),
            encoded: std::sync::OnceLock::new(),
        };
        assert_eq!(who(&fixture, &caller, &headers).await, proxied);
    }
}
