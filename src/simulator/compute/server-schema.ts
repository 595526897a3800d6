import type { BodySchema } from '../core/checks/schema.ts';
import { checkBody } from '../core/wrapped-refusals.ts';

// Request schemas of servers by microversion. Fields of later microversions are refused.

const text = (minLength: number, maxLength: number): BodySchema => ({ type: 'string', minLength, maxLength });
const name = text(1, 255);
const uuid: BodySchema = { type: 'string', format: 'uuid' };
const flag: BodySchema = {
  type: ['boolean', 'string'],
  enum: [
    ...[true, 'True', 'TRUE', 'true', '1', 'ON', 'On', 'on', 'YES', 'Yes', 'yes'],
    ...[false, 'False', 'FALSE', 'false', '0', 'OFF', 'Off', 'off', 'NO', 'No', 'no'],
  ],
};
const count: BodySchema = { type: ['integer', 'string'], pattern: '^[0-9]*$', minimum: 1, minLength: 1 };
const address: BodySchema = { type: 'string', format: 'ip-address' };
export const tagSchema: BodySchema = { type: 'string', minLength: 1, maxLength: 60, pattern: '^[^,/]*$' };

export const metadataSchema: BodySchema = {
  type: 'object',
  patternProperties: { '^[a-zA-Z0-9-_:. ]{1,255}$': { type: 'string', maxLength: 255 } },
  additionalProperties: false,
};

const metadataBody: BodySchema = {
  type: 'object',
  properties: { metadata: metadataSchema },
  required: ['metadata'],
  additionalProperties: false,
};

/** Reads the metadata of a server or image from `{"metadata": {...}}`. */
export function readMetadata(body: unknown): Readonly<Record<string, string>> {
  checkBody(metadataBody, body);
  return (body as { metadata: Record<string, string> }).metadata;
}

const hints: BodySchema = {
  type: 'object',
  properties: {
    group: uuid,
    different_host: { oneOf: [uuid, { type: 'array', items: uuid }] },
    same_host: { type: ['string', 'array'], items: uuid },
    query: { type: ['string', 'object'] },
  },
  additionalProperties: true,
};

function blockDevice(minor: number): BodySchema {
  const short: BodySchema = { type: 'string', maxLength: 255 };
  return {
    type: 'object',
    properties: {
      virtual_name: short,
      volume_id: uuid,
      snapshot_id: uuid,
      volume_size: { type: ['integer', 'string'], pattern: '^[0-9]+$', minimum: 0, minLength: 1 },
      device_name: { ...text(1, 255), pattern: '^[a-zA-Z0-9._-r/]*$' },
      delete_on_termination: flag,
      no_device: {},
      connection_info: { type: 'string' },
      source_type: { type: 'string', enum: ['volume', 'image', 'snapshot', 'blank'] },
      uuid: { ...text(1, 255), pattern: '^[a-zA-Z0-9._-]*$' },
      image_id: uuid,
      destination_type: { type: 'string', enum: ['local', 'volume'] },
      guest_format: short,
      device_type: short,
      disk_bus: short,
      boot_index: { type: ['integer', 'string', 'null'], pattern: '^-?[0-9]+$' },
      ...((minor === 32 || minor >= 42) && { tag: tagSchema }),
      ...(minor >= 67 && { volume_type: { type: ['string', 'null'], minLength: 0, maxLength: 255 } }),
    },
    additionalProperties: false,
  };
}

function networks(minor: number): BodySchema {
  const list: BodySchema = {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        fixed_ip: address,
        port: { oneOf: [uuid, { type: 'null' }] },
        uuid: minor >= 37 ? uuid : { type: 'string' },
        ...((minor === 32 || minor >= 42) && { tag: tagSchema }),
      },
      additionalProperties: false,
    },
  };
  return minor < 37 ? list : { oneOf: [list, { type: 'string', enum: ['none', 'auto'] }] };
}

function makeCreateSchema(minor: number): BodySchema {
  return {
    type: 'object',
    properties: {
      server: {
        type: 'object',
        properties: {
          name,
          imageRef: { oneOf: [uuid, { type: 'string', maxLength: 0 }] },
          flavorRef: { type: ['string', 'integer'], minLength: 1 },
          adminPass: { type: 'string' },
          metadata: metadataSchema,
          networks: networks(minor),
          'OS-DCF:diskConfig': { type: 'string', enum: ['AUTO', 'MANUAL'] },
          accessIPv4: { type: 'string', format: 'ipv4' },
          accessIPv6: { type: 'string', format: 'ipv6' },
          ...(minor < 57 && { personality: { type: 'array' } }),
          availability_zone: name,
          block_device_mapping: { type: 'array', items: { type: 'object' } },
          block_device_mapping_v2: { type: 'array', items: blockDevice(minor) },
          config_drive: flag,
          key_name: name,
          min_count: count,
          max_count: count,
          return_reservation_id: flag,
          security_groups: {
            type: 'array',
            items: { type: 'object', properties: { name }, additionalProperties: false },
          },
          user_data: { type: 'string', format: 'base64', maxLength: 65535 },
          ...(minor >= 19 && { description: { type: ['string', 'null'], minLength: 0, maxLength: 255 } }),
          ...(minor >= 52 && { tags: { type: 'array', items: tagSchema, maxItems: 50 } }),
          ...(minor >= 63 && { trusted_image_certificates: { type: ['array', 'null'] } }),
          ...(minor >= 74 && { host: name, hypervisor_hostname: name }),
          ...(minor >= 90 && { hostname: hostnameSchema }),
        },
        required: minor >= 37 ? ['name', 'flavorRef', 'networks'] : ['name', 'flavorRef'],
        additionalProperties: false,
      },
      'os:scheduler_hints': hints,
      'OS-SCH-HNT:scheduler_hints': hints,
    },
    required: ['server'],
    additionalProperties: false,
  };
}

export const hostnameSchema: BodySchema = { ...text(2, 63), pattern: '^[a-zA-Z0-9]+[a-zA-Z0-9-]*[a-zA-Z0-9]+$' };

function makeUpdateSchema(minor: number): BodySchema {
  return {
    type: 'object',
    properties: {
      server: {
        type: 'object',
        properties: {
          name,
          'OS-DCF:diskConfig': { type: 'string', enum: ['AUTO', 'MANUAL'] },
          accessIPv4: { type: 'string', format: 'ipv4' },
          accessIPv6: { type: 'string', format: 'ipv6' },
          ...(minor >= 19 && { description: { type: ['string', 'null'], minLength: 0, maxLength: 255 } }),
          ...(minor >= 90 && { hostname: hostnameSchema }),
        },
        additionalProperties: false,
      },
    },
    required: ['server'],
    additionalProperties: false,
  };
}

function perMinor(make: (minor: number) => BodySchema): (minor: number) => BodySchema {
  const made = new Map<number, BodySchema>();
  return (minor) => {
    let schema = made.get(minor);
    if (!schema) {
      schema = make(minor);
      made.set(minor, schema);
    }
    return schema;
  };
}

export const createSchema: (minor: number) => BodySchema = perMinor(makeCreateSchema);
export const updateSchema: (minor: number) => BodySchema = perMinor(makeUpdateSchema);

/** Accepts the values nova treats as true. */
export function isYes(value: unknown): boolean {
  return value === true || (typeof value === 'string' && /^(?:true|1|on|yes)$/i.test(value));
}
