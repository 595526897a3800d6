import type { JsonObject } from '../../json/value.ts';
import type { Schema } from '../../schema/types.ts';

/** One field of every type visible to expressions. */
export const sampleSchema: Schema = {
  "type": "object",
  "properties": {
    "i": {
      "type": "integer"
    },
    "j": {
      "type": "integer"
    },
    "d": {
      "type": "number"
    },
    "s": {
      "type": "string",
      "maxLength": 100
    },
    "t": {
      "type": "string",
      "maxLength": 100
    },
    "b": {
      "type": "boolean"
    },
    "ls": {
      "type": "array",
      "maxItems": 10,
      "items": {
        "type": "string",
        "maxLength": 50
      }
    },
    "li": {
      "type": "array",
      "maxItems": 10,
      "items": {
        "type": "integer"
      }
    },
    "ld": {
      "type": "array",
      "maxItems": 10,
      "items": {
        "type": "number"
      }
    },
    "set": {
      "type": "array",
      "maxItems": 10,
      "items": {
        "type": "string",
        "maxLength": 50
      },
      "x-kubernetes-list-type": "set"
    },
    "set2": {
      "type": "array",
      "maxItems": 10,
      "items": {
        "type": "string",
        "maxLength": 50
      },
      "x-kubernetes-list-type": "set"
    },
    "lm": {
      "type": "array",
      "maxItems": 10,
      "items": {
        "type": "object",
        "required": [
          "k"
        ],
        "properties": {
          "k": {
            "type": "string",
            "maxLength": 50
          },
          "v": {
            "type": "integer"
          }
        }
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": [
        "k"
      ]
    },
    "lm2": {
      "type": "array",
      "maxItems": 10,
      "items": {
        "type": "object",
        "required": [
          "k"
        ],
        "properties": {
          "k": {
            "type": "string",
            "maxLength": 50
          },
          "v": {
            "type": "integer"
          }
        }
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": [
        "k"
      ]
    },
    "m": {
      "type": "object",
      "maxProperties": 10,
      "additionalProperties": {
        "type": "string",
        "maxLength": 50
      }
    },
    "mi": {
      "type": "object",
      "maxProperties": 10,
      "additionalProperties": {
        "type": "integer"
      }
    },
    "o": {
      "type": "object",
      "properties": {
        "x": {
          "type": "integer"
        },
        "y": {
          "type": "string",
          "maxLength": 50
        }
      }
    },
    "o2": {
      "type": "object",
      "properties": {
        "x": {
          "type": "integer"
        },
        "y": {
          "type": "string",
          "maxLength": 50
        }
      }
    },
    "ios": {
      "x-kubernetes-int-or-string": true
    },
    "ios2": {
      "x-kubernetes-int-or-string": true
    },
    "time": {
      "type": "string",
      "format": "date-time"
    },
    "date": {
      "type": "string",
      "format": "date"
    },
    "dur": {
      "type": "string",
      "format": "duration"
    },
    "by": {
      "type": "string",
      "format": "byte",
      "maxLength": 50
    },
    "n": {
      "type": "string",
      "nullable": true,
      "maxLength": 50
    },
    "a-b": {
      "type": "integer"
    },
    "x.y/z": {
      "type": "integer"
    },
    "a__b": {
      "type": "integer"
    },
    "namespace": {
      "type": "string",
      "maxLength": 50
    },
    "free": {
      "type": "object",
      "x-kubernetes-preserve-unknown-fields": true
    },
    "raw": {
      "x-kubernetes-preserve-unknown-fields": true
    },
    "emb": {
      "type": "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true
    }
  }
};

export const sample: JsonObject = {
  "i": 5,
  "j": -3,
  "d": 2.5,
  "s": "hello",
  "t": "héllo w😀rld",
  "b": true,
  "ls": [
    "a",
    "b",
    "c"
  ],
  "li": [
    3,
    1,
    2
  ],
  "ld": [
    1.5,
    2
  ],
  "set": [
    "a",
    "b"
  ],
  "set2": [
    "b",
    "a"
  ],
  "lm": [
    {
      "k": "a",
      "v": 1
    },
    {
      "k": "b",
      "v": 2
    }
  ],
  "lm2": [
    {
      "k": "b",
      "v": 2
    },
    {
      "k": "a",
      "v": 1
    }
  ],
  "m": {
    "a": "x",
    "b": "y"
  },
  "mi": {
    "a": 1
  },
  "o": {
    "x": 1,
    "y": "q"
  },
  "o2": {
    "y": "q",
    "x": 1
  },
  "ios": 5,
  "ios2": "50%",
  "time": "2024-02-29T12:30:45.5Z",
  "date": "2024-01-02",
  "dur": "1h30m",
  "by": "aGVsbG8=",
  "n": null,
  "a-b": 1,
  "x.y/z": 2,
  "a__b": 3,
  "namespace": "ns",
  "free": {
    "q": 1
  },
  "emb": {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
      "name": "p",
      "labels": {
        "a": "b"
      }
    }
  }
};
