import { type BodySchema, firstError } from '../core/checks/schema.ts';
import { Refusal } from '../core/refusal.ts';
import type { Image } from './images.ts';

const optionalText: BodySchema = { type: ['null', 'string'], maxLength: 255 };

/** Attributes that users may set. All others are properties and must be strings. */
const writable: Readonly<Record<string, BodySchema>> = {
  id: {
    type: 'string',
    pattern: '^([0-9a-fA-F]){8}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){12}$',
  },
  name: optionalText,
  visibility: { type: 'string', enum: ['community', 'public', 'private', 'shared'] },
  protected: { type: 'boolean' },
  os_hidden: { type: 'boolean' },
  owner: optionalText,
  container_format: {
    type: ['null', 'string'],
    enum: [null, 'ami', 'ari', 'aki', 'bare', 'ovf', 'ova', 'docker', 'compressed'],
  },
  disk_format: {
    type: ['null', 'string'],
    enum: [null, 'ami', 'ari', 'aki', 'vhd', 'vhdx', 'vmdk', 'raw', 'qcow2', 'vdi', 'iso', 'ploop'],
  },
  min_ram: { type: 'integer' },
  min_disk: { type: 'integer' },
  tags: { type: 'array', items: { type: 'string', maxLength: 255 } },
};

const readOnly: ReadonlySet<string> = new Set([
  ...['status', 'checksum', 'os_hash_algo', 'os_hash_value', 'size', 'virtual_size', 'created_at', 'updated_at'],
  ...['self', 'file', 'schema', 'stores', 'direct_url', 'locations'],
]);

const schema: BodySchema = { type: 'object', properties: writable, additionalProperties: { type: 'string' } };

/** Refuses an invalid image with glance's messages. */
export function checkImage(fields: unknown): asserts fields is Readonly<Record<string, unknown>> {
  if (typeof fields === 'object' && fields !== null) {
    for (const name in fields) if (readOnly.has(name)) throw new Refusal(403, `Attribute '${name}' is read-only.`);
  }
  for (const name of ['min_disk', 'min_ram']) {
    const value = (fields as Record<string, unknown> | null)?.[name];
    if (typeof value === 'number' && value < 0) {
      throw new Refusal(400, `Invalid value '${value}' for parameter '${name}': Cannot be a negative value`);
    }
  }
  const error = firstError(schema, fields);
  if (error) {
    throw new Refusal(
      400,
      `Provided object does not match schema 'image': ${error.message}\n\nFailed validating '${error.keyword}' in schema`,
    );
  }
}

export function isReadOnly(name: string): boolean {
  return readOnly.has(name) || name === 'id';
}

export function isProperty(name: string): boolean {
  return !Object.hasOwn(writable, name) && !readOnly.has(name);
}

type Mutable = { -readonly [K in keyof Image]?: Image[K] };

/** Maps the attributes of a body to columns. */
export function columnsOf(fields: Readonly<Record<string, unknown>>): Mutable {
  const columns: Mutable = {};
  if ('name' in fields) columns.name = fields['name'] as string | null;
  if ('visibility' in fields) columns.visibility = fields['visibility'] as Image['visibility'];
  if ('protected' in fields) columns.isProtected = fields['protected'] as boolean;
  if ('os_hidden' in fields) columns.isHidden = fields['os_hidden'] as boolean;
  if ('container_format' in fields) columns.containerFormat = fields['container_format'] as string | null;
  if ('disk_format' in fields) columns.diskFormat = fields['disk_format'] as string | null;
  if ('min_ram' in fields) columns.minRam = fields['min_ram'] as number;
  if ('min_disk' in fields) columns.minDisk = fields['min_disk'] as number;
  if ('tags' in fields) columns.tags = [...new Set(fields['tags'] as string[])];
  return columns;
}

export function propertiesOf(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  const properties: Record<string, string> = {};
  for (const name in fields) if (isProperty(name)) properties[name] = String(fields[name]);
  return properties;
}
