//! Keys of tokens: the algorithm each is good for, and its id.

use std::fmt;

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::signature::{self, ParsedPublicKey};
use aws_lc_rs::{digest, rsa};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use x509_parser::prelude::FromDer as _;
use x509_parser::public_key::PublicKey as Parsed;
use x509_parser::x509::SubjectPublicKeyInfo;

use crate::keypair::{Form, KeyPair, Kind, encode_pem};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("data does not contain a valid RSA or ECDSA private key")]
    NoPrivateKey,
    #[error("data does not contain any valid RSA or ECDSA public keys")]
    NoPublicKey,
    #[error("could not generate a key")]
    Generate,
}

/// One key is good for one algorithm: what a token's header claims never chooses how it is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Rs256,
    Es256,
    Es384,
    Es512,
}

impl Algorithm {
    pub fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Es512 => "ES512",
        }
    }
}

/// Signs tokens.
pub struct SigningKey {
    pair: KeyPair,
    public: PublicKey,
}

impl SigningKey {
    /// The first private key of the PEM: PKCS#8, SEC1 or PKCS#1.
    pub fn from_pem(text: &[u8]) -> Result<Self, KeyError> {
        let pair = KeyPair::from_pem(text, Form::Fixed).ok_or(KeyError::NoPrivateKey)?;
        let public = PublicKey::from_spki(&pair.spki).ok_or(KeyError::NoPrivateKey)?;
        Ok(Self { pair, public })
    }

    /// A new P-256 key as SEC1 PEM: kube-apiserver takes it as the key that signs and as one that verifies.
    pub fn generate_pem() -> Result<String, KeyError> {
        let key = KeyPair::generate_pem().ok_or(KeyError::Generate)?;
        let key = KeyPair::from_pem(key.as_bytes(), Form::Fixed).ok_or(KeyError::Generate)?;
        key.to_sec1_pem().ok_or(KeyError::Generate)
    }

    /// The same key in the form that kube-apiserver takes for all purposes, if `text` is one PKCS#8 block that it does
    /// not: earlier versions wrote such files.
    pub fn portable_pem(text: &str) -> Option<String> {
        let blocks = pem::parse_many(text).ok()?;
        let [block] = blocks.as_slice() else {
            return None;
        };
        if block.tag() != "PRIVATE KEY" {
            return None;
        }
        KeyPair::from_pem(text.as_bytes(), Form::Fixed)?.to_sec1_pem()
    }

    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    pub(super) fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        self.pair.sign(message)
    }
}

/// Never shows the private half.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SigningKey").field(&self.public.id).finish()
    }
}

/// Verifies tokens.
#[derive(Clone)]
pub struct PublicKey {
    /// The SHA-256 of the public key's DER, as upstream names keys in `kid`.
    pub id: String,
    pub algorithm: Algorithm,
    spki: Vec<u8>,
    parsed: ParsedPublicKey,
}

impl PublicKey {
    /// All keys of the PEM: public ones, those of certificates, and the public halves of private ones.
    pub fn all_from_pem(text: &[u8]) -> Result<Vec<Self>, KeyError> {
        let blocks = pem::parse_many(text).map_err(|_| KeyError::NoPublicKey)?;
        let keys = blocks.iter().filter_map(|block| {
            let der = block.contents();
            match block.tag() {
                "PUBLIC KEY" => Self::from_spki(der),
                "RSA PUBLIC KEY" => {
                    let spki = rsa::PublicKey::from_der(der).ok()?.as_der().ok()?;
                    Self::from_spki(spki.as_ref())
                }
                "CERTIFICATE" => {
                    let certificate = x509_parser::parse_x509_certificate(der).ok()?.1;
                    Self::from_spki(certificate.public_key().raw)
                }
                _ => {
                    let private = pem::encode(block);
                    Some(SigningKey::from_pem(private.as_bytes()).ok()?.public)
                }
            }
        });
        let keys: Vec<_> = keys.collect();
        if keys.is_empty() {
            return Err(KeyError::NoPublicKey);
        }
        Ok(keys)
    }

    fn from_spki(spki: &[u8]) -> Option<Self> {
        let (algorithm, verification): (_, &'static dyn signature::VerificationAlgorithm) =
            match Kind::of(spki)? {
                Kind::Rsa => (Algorithm::Rs256, &signature::RSA_PKCS1_2048_8192_SHA256),
                Kind::P256 => (Algorithm::Es256, &signature::ECDSA_P256_SHA256_FIXED),
                Kind::P384 => (Algorithm::Es384, &signature::ECDSA_P384_SHA384_FIXED),
                Kind::P521 => (Algorithm::Es512, &signature::ECDSA_P521_SHA512_FIXED),
            };
        Some(Self {
            id: URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, spki)),
            algorithm,
            spki: spki.to_vec(),
            parsed: ParsedPublicKey::new(verification, spki).ok()?,
        })
    }

    pub fn to_pem(&self) -> String {
        encode_pem("PUBLIC KEY", &self.spki)
    }

    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        self.parsed.verify_sig(message, signature).is_ok()
    }

    /// The numbers of the key as a JSON Web Key has them: x and y, or n and e.
    pub(super) fn numbers(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let (_, info) = SubjectPublicKeyInfo::from_der(&self.spki).ok()?;
        match info.parsed().ok()? {
            Parsed::RSA(key) => {
                let trim = |bytes: &[u8]| {
                    let zeros = bytes.iter().take_while(|it| **it == 0).count();
                    bytes[zeros..].to_vec()
                };
                Some((trim(key.modulus), trim(key.exponent)))
            }
            Parsed::EC(point) => {
                let (x, y) = point.data().get(1..)?.split_at(point.data().len() / 2);
                Some((x.to_vec(), y.to_vec()))
            }
            _ => None,
        }
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.algorithm.name();
        f.debug_tuple("PublicKey")
            .field(&name)
            .field(&self.id)
            .finish()
    }
}
