import { createHash, generateKeyPairSync } from 'node:crypto';
import { must } from '../../machinery/index.ts';
import { policiesOf } from '../core/caller.ts';
import type { RequestContext } from '../core/http/context.ts';
import { need, resourceRoutes } from '../core/resource.ts';
import type { Route } from '../core/service.ts';
import { wholeSeconds } from '../core/time-formats.ts';
import { badRequest, checkBody, conflict, forbidden, notFound } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { pageItems } from './paging.ts';
import type { KeyPair } from './tables.ts';

/** A key pair, with its private key if nova made it for this answer. */
interface Shown extends KeyPair {
  readonly privateKey?: string;
}

export function keyPairRoutes(compute: Compute): Route[] {
  const policy = policiesOf('os_compute_api:os-keypairs');
  return resourceRoutes<Shown>({
    path: '/v2.1/os-keypairs',
    name: 'keypair',
    parameter: 'name',
    statuses: {
      create: ({ minor }) => (minor < 2 ? 200 : 201),
      delete: ({ minor }) => (minor < 2 ? 202 : 204),
    },
    policy: (operation) => policy(operation === 'list' ? 'index' : operation, 'reader'),
    find(context) {
      const userId = userOf(context);
      return need(compute.keyPairs, `${userId}/${context.param('name')}`, () =>
        notFound(`Keypair ${context.param('name')} not found for user ${userId}`),
      );
    },
    view(row, context, operation) {
      const { userId, createdAt, privateKey } = row;
      const shown = { ...brief(context, row), user_id: userId, ...(privateKey && { private_key: privateKey }) };
      if (operation === 'create') return shown;
      const id = [...compute.keyPairs.by('user', userId)].findIndex((each) => each.id === row.id) + 1;
      return { ...shown, deleted: false, created_at: wholeSeconds(createdAt), deleted_at: null, updated_at: null, id };
    },
    list(context) {
      const rows = [...compute.keyPairs.by('user', userOf(context))]
        .map((row) => ({ id: row.name, row }))
        .sort((a, b) => (a.id < b.id ? -1 : 1));
      const keypairs = pageItems(context, rows).items.map(({ row }) => ({ keypair: brief(context, row) }));
      return { status: 200, body: { keypairs } };
    },
    create: (context) => create(compute, context),
    delete: ({ id }) => void compute.keyPairs.delete(id),
  });
}

/** From 2.10 on administrators may manage the key pairs of other users. */
function userOf({ caller, query, minor }: RequestContext): string {
  const other = minor >= 10 ? query.get('user_id') : undefined;
  if (other === undefined || other === caller.userId) return caller.userId;
  if (!caller.isAdmin) throw forbidden("Policy doesn't allow os_compute_api:os-keypairs:index to be performed.");
  return other;
}

function brief({ minor }: RequestContext, { name, publicKey, fingerprint, type }: Readonly<KeyPair>): object {
  return { name, public_key: publicKey, fingerprint, ...(minor >= 2 && { type }) };
}

function create(compute: Compute, context: RequestContext): Shown {
  const { minor } = context;
  checkBody(
    {
      type: 'object',
      properties: {
        keypair: {
          type: 'object',
          properties: {
            name: { type: 'string', minLength: 1, maxLength: 255 },
            public_key: { type: 'string' },
            ...(minor >= 2 && { type: { type: 'string', enum: ['ssh', 'x509'] } }),
            ...(minor >= 10 && { user_id: { type: 'string' } }),
          },
          required: minor >= 92 ? ['public_key', 'name'] : ['name'],
          additionalProperties: false,
        },
      },
      required: ['keypair'],
      additionalProperties: false,
    },
    context.json,
  );
  const fields = (context.json as { keypair: Readonly<Record<string, string | undefined>> }).keypair;
  const name = must(fields['name'], 'name');
  checkKeyName(name, minor);
  const userId = fields['user_id'] !== undefined && context.caller.isAdmin ? fields['user_id'] : context.caller.userId;
  if (compute.keyPairs.has(`${userId}/${name}`)) throw conflict(`Key pair '${name}' already exists.`);
  const { quotas } = compute.core;
  const limit = quotas.limit('compute', context.project, 'key_pairs');
  if (limit >= 0 && compute.keyPairs.count('user', userId) >= limit) {
    throw forbidden('Quota exceeded, too many key pairs.');
  }
  const made = fields['public_key'] === undefined ? newKeys() : undefined;
  const publicKey = made?.publicKey ?? must(fields['public_key'], 'fields');
  const row = compute.keyPairs.insert({
    id: `${userId}/${name}`,
    userId,
    name,
    type: fields['type'] ?? 'ssh',
    publicKey,
    fingerprint: fingerprintOf(publicKey),
    createdAt: compute.core.now(),
  });
  return { ...row, ...(made && { privateKey: made.privateKey }) };
}

function checkKeyName(name: string, minor: number): void {
  const isGood = (minor >= 92 ? /^[\w@.\- ]+$/ : /^[\w\- ]+$/).test(name) && name.trim() === name;
  if (isGood) return;
  const letters = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
  const expected = `[${minor >= 92 ? '@.' : ''}_- ${letters}]`;
  throw badRequest(`An invalid 'name' value was provided. The name must be: Only expected characters: ${expected}`);
}

/** MD5 of the decoded key, as pairs of hex digits. */
function fingerprintOf(publicKey: string): string {
  const [type, blob] = publicKey.trim().split(/\s+/);
  const bytes = Buffer.from(blob ?? '', 'base64');
  const inner = bytes.length > 4 ? bytes.subarray(4, 4 + bytes.readUInt32BE(0)).toString() : '';
  if (type === undefined || type === '' || inner !== type) {
    throw badRequest('Keypair data is invalid: failed to generate fingerprint');
  }
  const digits = createHash('md5').update(bytes).digest('hex');
  return (digits.match(/../g) ?? []).join(':');
}

/** Generates a key pair. An elliptic curve key is fast to generate, and `ssh -i` accepts it like nova's RSA keys. */
function newKeys(): { publicKey: string; privateKey: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const point = Buffer.concat([
    Buffer.of(4),
    Buffer.from(must(x, 'x'), 'base64url'),
    Buffer.from(must(y, 'y'), 'base64url'),
  ]);
  const field = (bytes: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const type = 'ecdsa-sha2-nistp256';
  const blob = Buffer.concat([field(Buffer.from(type)), field(Buffer.from('nistp256')), field(point)]);
  return {
    publicKey: `${type} ${blob.toString('base64')} Generated-by-Nova`,
    privateKey: privateKey.export({ format: 'pem', type: 'sec1' }).toString(),
  };
}
