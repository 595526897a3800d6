import { readFile, rm, writeFile } from 'node:fs/promises';
import { CapstanError, errorMessage, formatJson, formatYaml } from '../../machinery/index.ts';
import { isOpenStackError, type Keypair, type OpenStack, orUndefined } from '../../openstack/index.ts';
import { generateSshKeys, readSshPublicKey } from '../../pki/index.ts';
import type { CommandContext } from '../context.ts';
import { type CloudChoiceOptions, withCloud } from '../env/with-cloud.ts';

export interface CreateKeypairOptions extends CloudChoiceOptions {
  publicKey?: string;
  privateKey?: string;
  output: 'text' | 'json' | 'yaml';
}

/**
 * Uploads a public key, either an existing one or that of a new pair. The private key of a new pair is printed once or
 * written to a file, and stored nowhere else.
 */
export async function createKeypair(
  options: CreateKeypairOptions,
  context: CommandContext,
  name: string,
): Promise<number> {
  const { publicKey, privateKey } = options;
  if (publicKey !== undefined && privateKey !== undefined) {
    throw new CapstanError('CAP_USAGE', '--public-key and --private-key exclude each other', {
      hint: '--public-key imports an existing key, --private-key writes the private key of a new pair',
    });
  }
  const imported = publicKey === undefined ? undefined : await importedKey(publicKey, context);
  return await withCloud(options, context, async (cloud) => {
    await refuseDouble(cloud, name, context.signal);
    const made = imported === undefined ? await generate(cloud, { name, file: privateKey, context }) : undefined;
    const keypair = made?.keypair ?? (await put(cloud, { name, publicKey: imported ?? '' }, context.signal));
    const value = {
      name,
      type: keypair.type ?? 'ssh',
      fingerprint: keypair.fingerprint,
      ...(made !== undefined && privateKey === undefined && { privateKey: made.privateKey }),
    };
    const said = `key pair "${name}" created: ${keypair.fingerprint}\n`;
    if (options.output === 'json') context.stdout(formatJson(value));
    else if (options.output === 'yaml') context.stdout(formatYaml(value));
    else if (made !== undefined && privateKey === undefined) {
      // Standard output contains only the key, so that it can be redirected to a file.
      context.stdout(made.privateKey);
      context.stderr(said);
    } else context.stdout(said);
    return 0;
  });
}

async function importedKey(file: string, context: CommandContext): Promise<string> {
  const source = file === '-' ? 'standard input' : file;
  const text = file === '-' ? await context.readInput() : await readFile(file, 'utf8').catch(fail);
  return readSshPublicKey(text, source);

  function fail(error: unknown): never {
    throw new CapstanError('CAP_SSH_KEY', `${file} cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

/** The private key is written before the public key is uploaded, because a key pair without private key is useless. */
async function generate(
  cloud: OpenStack,
  { name, file, context }: { name: string; file: string | undefined; context: CommandContext },
): Promise<{ keypair: Keypair; privateKey: string }> {
  const { publicKey, privateKey } = generateSshKeys(name);
  if (file !== undefined) await writeNew(file, privateKey);
  try {
    return { keypair: await put(cloud, { name, publicKey }, context.signal), privateKey };
  } catch (error) {
    if (file !== undefined) await rm(file, { force: true });
    throw error;
  }
}

async function writeNew(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new CapstanError('CAP_SSH_KEY', `${file} cannot be written: ${errorMessage(error)}`, { cause: error });
    }
    throw new CapstanError('CAP_SSH_KEY', `${file} already exists and is not overwritten`, {
      hint: 'choose another file, or import the public half of that key with --public-key',
    });
  });
}

async function refuseDouble(cloud: OpenStack, name: string, signal: AbortSignal): Promise<void> {
  const present = await orUndefined(cloud.compute.keypairs.get(name, { signal }));
  if (present) throw taken(name, present.fingerprint);
}

async function put(cloud: OpenStack, spec: { name: string; publicKey: string }, signal: AbortSignal): Promise<Keypair> {
  try {
    return await cloud.compute.keypairs.create(spec, { signal });
  } catch (error) {
    if (isOpenStackError(error, 'conflict')) throw taken(spec.name, undefined);
    throw error;
  }
}

function taken(name: string, fingerprint: string | undefined): CapstanError {
  const which = fingerprint === undefined ? '' : ` (${fingerprint})`;
  return new CapstanError('CAP_OPENSTACK_CONFLICT', `the cloud already has a key pair "${name}" of yours${which}`, {
    hint: 'use it, or choose another name',
  });
}
