import type { Schema } from '../types.ts';

/** One field for every kind of constraint. */
export const probeSchema: Schema = {
  "type": "object",
  "required": [
    "spec"
  ],
  "properties": {
    "spec": {
      "type": "object",
      "properties": {
        "replicas": {
          "type": "integer",
          "minimum": 0,
          "maximum": 10,
          "format": "int32"
        },
        "num": {
          "type": "number",
          "minimum": 0.5,
          "exclusiveMaximum": true,
          "maximum": 9.5,
          "multipleOf": 0.5
        },
        "mult": {
          "type": "integer",
          "multipleOf": 3
        },
        "name": {
          "type": "string",
          "minLength": 2,
          "maxLength": 4,
          "pattern": "^[a-z]+$"
        },
        "one": {
          "type": "string",
          "maxLength": 1
        },
        "mode": {
          "type": "string",
          "enum": [
            "b",
            "a"
          ]
        },
        "nmode": {
          "type": "string",
          "nullable": true,
          "enum": [
            "b",
            "a"
          ]
        },
        "level": {
          "type": "integer",
          "enum": [
            1,
            2
          ]
        },
        "flag": {
          "type": "boolean"
        },
        "when": {
          "type": "string",
          "format": "date-time"
        },
        "ip": {
          "type": "string",
          "format": "ipv4"
        },
        "ios": {
          "x-kubernetes-int-or-string": true
        },
        "iosa": {
          "x-kubernetes-int-or-string": true,
          "anyOf": [
            {
              "type": "integer"
            },
            {
              "type": "string"
            }
          ],
          "pattern": "^[0-9]+%$"
        },
        "tags": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "x-kubernetes-list-type": "set",
          "minItems": 1,
          "maxItems": 3
        },
        "ports": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "name"
            ],
            "properties": {
              "name": {
                "type": "string"
              },
              "port": {
                "type": "integer",
                "maximum": 100
              }
            }
          },
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": [
            "name"
          ]
        },
        "plain": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "name"
            ],
            "properties": {
              "name": {
                "type": "string"
              },
              "port": {
                "type": "integer",
                "maximum": 100
              }
            }
          }
        },
        "labels": {
          "type": "object",
          "additionalProperties": {
            "type": "string",
            "maxLength": 3
          },
          "minProperties": 1,
          "maxProperties": 2
        },
        "maplists": {
          "type": "object",
          "additionalProperties": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "x-kubernetes-list-type": "set"
          }
        },
        "any": {
          "type": "object",
          "properties": {
            "a": {
              "type": "integer"
            },
            "b": {
              "type": "string"
            }
          },
          "anyOf": [
            {
              "required": [
                "a"
              ]
            },
            {
              "required": [
                "b"
              ]
            }
          ]
        },
        "oneo": {
          "type": "object",
          "properties": {
            "a": {
              "type": "integer"
            },
            "b": {
              "type": "string"
            }
          },
          "oneOf": [
            {
              "required": [
                "a"
              ]
            },
            {
              "required": [
                "b"
              ]
            }
          ]
        },
        "allo": {
          "type": "integer",
          "allOf": [
            {
              "minimum": 3
            },
            {
              "maximum": 5
            }
          ]
        },
        "nott": {
          "type": "string",
          "not": {
            "pattern": "^x"
          }
        },
        "nul": {
          "type": "string",
          "nullable": true
        },
        "def": {
          "type": "object",
          "default": {},
          "properties": {
            "x": {
              "type": "integer",
              "default": 7
            },
            "y": {
              "type": "string"
            }
          }
        },
        "free": {
          "type": "object",
          "x-kubernetes-preserve-unknown-fields": true,
          "properties": {
            "known": {
              "type": "object",
              "properties": {
                "k": {
                  "type": "string"
                }
              }
            }
          }
        },
        "emb": {
          "type": "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true
        },
        "dur": {
          "type": "string",
          "format": "duration"
        },
        "cidr": {
          "type": "string",
          "format": "cidr"
        },
        "mail": {
          "type": "string",
          "format": "email"
        },
        "host": {
          "type": "string",
          "format": "hostname"
        },
        "uri": {
          "type": "string",
          "format": "uri"
        },
        "byte": {
          "type": "string",
          "format": "byte"
        },
        "mac": {
          "type": "string",
          "format": "mac"
        },
        "uuid": {
          "type": "string",
          "format": "uuid"
        },
        "date": {
          "type": "string",
          "format": "date"
        },
        "ip6": {
          "type": "string",
          "format": "ipv6"
        }
      }
    }
  }
};
