//! Private keys: PEM in and out, and signatures in the two forms the world wants.

use aws_lc_rs::encoding::{AsDer, EcPrivateKeyRfc5915Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{self, EcdsaKeyPair, EcdsaSigningAlgorithm, KeyPair as _, RsaKeyPair};
use x509_parser::prelude::FromDer as _;
use x509_parser::public_key::PublicKey as Parsed;
use x509_parser::x509::SubjectPublicKeyInfo;

/// What a key is good for, with the hash that goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Rsa,
    P256,
    P384,
    P521,
}

/// How an ECDSA signature is written; RSA knows one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As tokens have it: two numbers of fixed length.
    Fixed,
    /// As certificates have it: DER.
    Asn1,
}

pub(crate) struct KeyPair {
    pair: Pair,
    pub(crate) kind: Kind,
    /// The public half as a DER `SubjectPublicKeyInfo`.
    pub(crate) spki: Vec<u8>,
}

enum Pair {
    Ec(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

fn curves(form: Form) -> [&'static EcdsaSigningAlgorithm; 3] {
    match form {
        Form::Fixed => [
            &signature::ECDSA_P256_SHA256_FIXED_SIGNING,
            &signature::ECDSA_P384_SHA384_FIXED_SIGNING,
            &signature::ECDSA_P521_SHA512_FIXED_SIGNING,
        ],
        Form::Asn1 => [
            &signature::ECDSA_P256_SHA256_ASN1_SIGNING,
            &signature::ECDSA_P384_SHA384_ASN1_SIGNING,
            &signature::ECDSA_P521_SHA512_ASN1_SIGNING,
        ],
    }
}

impl KeyPair {
    /// The first private key of the PEM: PKCS#8, SEC1 or PKCS#1.
    pub(crate) fn from_pem(text: &[u8], form: Form) -> Option<Self> {
        let blocks = pem::parse_many(text).ok()?;
        blocks.iter().find_map(|block| {
            let der = block.contents();
            match block.tag() {
                "EC PRIVATE KEY" => Self::ec(der, form),
                "RSA PRIVATE KEY" => Self::rsa(RsaKeyPair::from_der(der).ok()?),
                "PRIVATE KEY" => {
                    let rsa = || Self::rsa(RsaKeyPair::from_pkcs8(der).ok()?);
                    Self::ec(der, form).or_else(rsa)
                }
                _ => None,
            }
        })
    }

    /// A new P-256 key as PKCS#8 PEM.
    pub(crate) fn generate_pem() -> Option<String> {
        let key = EcdsaKeyPair::generate(curves(Form::Asn1)[0]).ok()?;
        let der = key.to_pkcs8v1().ok()?;
        Some(encode_pem("PRIVATE KEY", der.as_ref()))
    }

    /// The private half as PEM in the form that programs written in Go read wherever they take a key: SEC1 for ECDSA.
    /// PKCS#8 is not enough: kube-apiserver does not take it for `--service-account-key-file`. None for RSA.
    pub(crate) fn to_sec1_pem(&self) -> Option<String> {
        let Pair::Ec(pair) = &self.pair else {
            return None;
        };
        let der: EcPrivateKeyRfc5915Der = pair.private_key().as_der().ok()?;
        Some(encode_pem("EC PRIVATE KEY", der.as_ref()))
    }

    fn ec(der: &[u8], form: Form) -> Option<Self> {
        curves(form).into_iter().find_map(|curve| {
            let pair = EcdsaKeyPair::from_private_key_der(curve, der).ok()?;
            let spki = pair.public_key().as_der().ok()?;
            Self::new(Pair::Ec(pair), spki.as_ref())
        })
    }

    fn rsa(pair: RsaKeyPair) -> Option<Self> {
        let spki = pair.public_key().as_der().ok()?;
        Self::new(Pair::Rsa(pair), spki.as_ref())
    }

    fn new(pair: Pair, spki: &[u8]) -> Option<Self> {
        Some(Self {
            pair,
            kind: Kind::of(spki)?,
            spki: spki.to_vec(),
        })
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Ec(pair) => Some(pair.sign(&random, message).ok()?.as_ref().to_vec()),
            Pair::Rsa(pair) => {
                let mut out = vec![0; pair.public_modulus_len()];
                let padding = &signature::RSA_PKCS1_SHA256;
                pair.sign(padding, &random, message, &mut out).ok()?;
                Some(out)
            }
        }
    }
}

/// As openssl and Go write it, with plain line feeds.
pub(crate) fn encode_pem(tag: &str, der: &[u8]) -> String {
    let config = pem::EncodeConfig::new().set_line_ending(pem::LineEnding::LF);
    pem::encode_config(&pem::Pem::new(tag, der), config)
}

impl Kind {
    /// Of a DER `SubjectPublicKeyInfo`. A curve that only has the size of a known one is refused where it is used.
    pub(crate) fn of(spki: &[u8]) -> Option<Self> {
        let (rest, info) = SubjectPublicKeyInfo::from_der(spki).ok()?;
        match info.parsed().ok()? {
            _ if !rest.is_empty() => None,
            Parsed::RSA(_) => Some(Self::Rsa),
            // The point is uncompressed: one byte and two coordinates.
            Parsed::EC(point) => match point.data().len() {
                65 => Some(Self::P256),
                97 => Some(Self::P384),
                133 => Some(Self::P521),
                _ => None,
            },
            _ => None,
        }
    }
}
