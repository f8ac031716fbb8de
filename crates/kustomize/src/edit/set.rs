//! `edit set`.

use std::collections::BTreeMap;

use super::{Editor, build_metadata};
use crate::error::{Error, Result};
use crate::transform::split_image;
use crate::types::{Image, Replica};

/// Stands for what the kustomization already says.
const KEEP: &str = "*";

impl Editor<'_> {
    pub fn set_name_prefix(self, arguments: &[String]) -> std::result::Result<(), Error> {
        let prefix = one(arguments, "must specify exactly one prefix value")?;
        self.change(|kustomization, _| {
            kustomization.name_prefix = prefix;
            Ok(())
        })
    }

    pub fn set_name_suffix(self, arguments: &[String]) -> std::result::Result<(), Error> {
        let suffix = one(arguments, "must specify exactly one suffix value")?;
        self.change(|kustomization, _| {
            kustomization.name_suffix = suffix;
            Ok(())
        })
    }

    pub fn set_namespace(self, arguments: &[String]) -> std::result::Result<(), Error> {
        let namespace = one(arguments, "must specify exactly one namespace value")?;
        self.change(|kustomization, _| {
            kustomization.namespace = namespace;
            Ok(())
        })
    }

    /// `arguments` is one text with commas.
    pub fn set_build_metadata(self, arguments: &[String]) -> std::result::Result<(), Error> {
        let options = build_metadata(arguments)?;
        self.change(|kustomization, _| {
            *kustomization.build_metadata = options;
            Ok(())
        })
    }

    /// `arguments` are texts like `name=count`.
    pub fn set_replicas(self, arguments: &[String]) -> std::result::Result<(), Error> {
        if arguments.is_empty() {
            return Err(Error::new("no replicas specified"));
        }
        let mut all = BTreeMap::new();
        for argument in arguments {
            let replica = replica(argument)?;
            all.insert(replica.name.clone(), replica);
        }
        self.change(|kustomization, _| {
            for old in kustomization.replicas.drain(..) {
                all.entry(old.name.clone()).or_insert(old);
            }
            *kustomization.replicas = all.into_values().collect();
            Ok(())
        })
    }

    /// `arguments` are texts like `image=name:tag@digest`.
    pub fn set_images(self, arguments: &[String]) -> std::result::Result<(), Error> {
        if arguments.is_empty() {
            return Err(Error::new("no image specified"));
        }
        let mut all = BTreeMap::new();
        for argument in arguments {
            let image = image(argument)?;
            all.insert(image.name.clone(), image);
        }
        self.change(|kustomization, _| {
            for old in kustomization.images.drain(..) {
                match all.get_mut(&old.name) {
                    Some(image) => keep(image, &old),
                    None => _ = all.insert(old.name.clone(), old),
                }
            }
            for image in all.values_mut() {
                keep(image, &Image::default());
            }
            *kustomization.images = all.into_values().collect();
            Ok(())
        })
    }
}

fn one(arguments: &[String], problem: &str) -> Result<String> {
    match arguments {
        [one] => Ok(one.clone()),
        _ => Err(Error::new(problem)),
    }
}

fn replica(argument: &str) -> Result<Replica> {
    let wrong =
        || Error::new("invalid format of replica, use the following format: <name>=<count>");
    let (name, count) = argument.split_once('=').ok_or_else(wrong)?;
    Ok(Replica {
        name: name.to_owned(),
        count: count.parse().map_err(|_| wrong())?,
    })
}

fn image(argument: &str) -> Result<Image> {
    let (key, value) = match argument.split_once('=') {
        Some((key, value)) => (key, value),
        None => ("", argument),
    };
    let (name, new_tag, digest) = split_image(value);
    if name == argument {
        return Err(Error::new(
            "invalid format of image, use one of the following options:
- <image>=<newimage>:<newtag>
- <image>=<newimage>@<digest>
- <image>=<newimage>:<newtag>@<digest>
- <image>=<newimage>
- <image>:<newtag>
- <image>:<newtag>@<digest>
- <image>@<digest>",
        ));
    }
    let (name, new_name) = if key.is_empty() {
        (name, String::new())
    } else {
        (key.to_owned(), name)
    };
    Ok(Image {
        name,
        new_name,
        new_tag,
        digest,
        ..Image::default()
    })
}

/// Puts what was there where a star stands.
fn keep(image: &mut Image, old: &Image) {
    let fields = [
        (&mut image.new_name, &old.new_name),
        (&mut image.new_tag, &old.new_tag),
        (&mut image.digest, &old.digest),
    ];
    for (field, old) in fields {
        if field == KEEP {
            field.clone_from(old);
            image.tag_suffix.clear();
        }
    }
}
