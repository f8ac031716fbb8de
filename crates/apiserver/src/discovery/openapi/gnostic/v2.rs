//! The messages of `openapi.v2`: what our documents use of them.

use super::Message;
use super::What::{
    self, Additional, Anys, Bool, Double, Each, Int, Map, One, Parameter, ParameterOrReference,
    Requirements, Text, Texts, Within,
};

pub(super) static DOCUMENT: Message = Message {
    fields: &[
        ("swagger", 1, Text),
        ("info", 2, One(&INFO)),
        ("paths", 8, Map(2, &One(&PATH))),
        ("definitions", 9, Map(1, SCHEMAS)),
        ("parameters", 10, Map(1, &Parameter)),
        ("security", 12, Requirements),
        (
            "securityDefinitions",
            13,
            Map(1, &Within(2, &One(&API_KEY))),
        ),
    ],
    extensions: 16,
};

static INFO: Message = Message {
    fields: &[("title", 1, Text), ("version", 2, Text)],
    extensions: 7,
};

static API_KEY: Message = Message {
    fields: &[
        ("type", 1, Text),
        ("name", 2, Text),
        ("in", 3, Text),
        ("description", 4, Text),
    ],
    extensions: 5,
};

static PATH: Message = Message {
    fields: &[
        ("get", 2, One(&OPERATION)),
        ("put", 3, One(&OPERATION)),
        ("post", 4, One(&OPERATION)),
        ("delete", 5, One(&OPERATION)),
        ("options", 6, One(&OPERATION)),
        ("head", 7, One(&OPERATION)),
        ("patch", 8, One(&OPERATION)),
        ("parameters", 9, Each(&ParameterOrReference)),
    ],
    extensions: 10,
};

static OPERATION: Message = Message {
    fields: &[
        ("tags", 1, Texts),
        ("description", 3, Text),
        ("operationId", 5, Text),
        ("produces", 6, Texts),
        ("consumes", 7, Texts),
        ("parameters", 8, Each(&ParameterOrReference)),
        ("responses", 9, Map(1, &Within(1, &One(&RESPONSE)))),
        ("schemes", 10, Texts),
    ],
    extensions: 13,
};

static RESPONSE: Message = Message {
    fields: &[("description", 1, Text), ("schema", 2, Within(1, SCHEMAS))],
    extensions: 5,
};

pub(super) static PARAMETER_BODY: Message = Message {
    fields: &[
        ("description", 1, Text),
        ("name", 2, Text),
        ("in", 3, Text),
        ("required", 4, Bool),
        ("schema", 5, One(&SCHEMA)),
    ],
    extensions: 6,
};

pub(super) static PARAMETER_PATH: Message = Message {
    fields: &[
        ("required", 1, Bool),
        ("in", 2, Text),
        ("description", 3, Text),
        ("name", 4, Text),
        ("type", 5, Text),
        ("uniqueItems", 19, Bool),
    ],
    extensions: 22,
};

pub(super) static PARAMETER_QUERY: Message = Message {
    fields: &[
        ("required", 1, Bool),
        ("in", 2, Text),
        ("description", 3, Text),
        ("name", 4, Text),
        ("type", 6, Text),
        ("uniqueItems", 20, Bool),
    ],
    extensions: 23,
};

static SCHEMAS: &What = &One(&SCHEMA);

static SCHEMA: Message = Message {
    fields: &[
        ("$ref", 1, Text),
        ("format", 2, Text),
        ("title", 3, Text),
        ("description", 4, Text),
        ("multipleOf", 6, Double),
        ("maximum", 7, Double),
        ("exclusiveMaximum", 8, Bool),
        ("minimum", 9, Double),
        ("exclusiveMinimum", 10, Bool),
        ("maxLength", 11, Int),
        ("minLength", 12, Int),
        ("pattern", 13, Text),
        ("maxItems", 14, Int),
        ("minItems", 15, Int),
        ("uniqueItems", 16, Bool),
        ("maxProperties", 17, Int),
        ("minProperties", 18, Int),
        ("required", 19, Texts),
        ("enum", 20, Anys),
        ("additionalProperties", 21, Additional(SCHEMAS)),
        ("type", 22, Within(1, &Text)),
        ("items", 23, Within(1, SCHEMAS)),
        ("allOf", 24, Each(SCHEMAS)),
        ("properties", 25, Map(1, SCHEMAS)),
    ],
    extensions: 31,
};
