import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { privateFileMode, writeFileAtomic } from '../../../../pki/index.ts';
import { Rke2Refusal } from './refusal.ts';

/** Settings of rke2 for an object store. */
export interface BucketAccess {
  readonly endpoint: string;
  readonly bucket: string;
  readonly folder: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

const ownerFile = '.owner';

/** Object stores outside of the cloud. A bucket exists from its first use on, and belongs to those credentials. */
export class Buckets {
  readonly #directory: string | undefined;
  readonly #objects = new Map<string, Map<string, string>>();

  constructor(directory?: string) {
    this.#directory = directory;
    if (directory !== undefined) this.#readKept(directory);
  }

  /** Names of the objects in the folder of a bucket. */
  names(access: BucketAccess): string[] {
    const prefix = folderOf(access);
    return [...this.#open(access).objects.keys()]
      .filter((name) => name !== ownerFile && name.startsWith(prefix))
      .map((name) => name.slice(prefix.length))
      .sort();
  }

  get(access: BucketAccess, name: string): string | undefined {
    return this.#open(access).objects.get(folderOf(access) + name);
  }

  async put(access: BucketAccess, name: string, content: string): Promise<void> {
    const { key, objects } = this.#open(access);
    const owner = objects.get(ownerFile);
    if (owner === undefined) await this.#write(key, ownerFile, ownerOf(access));
    await this.#write(key, folderOf(access) + name, content);
  }

  remove(access: BucketAccess, name: string): void {
    const { key, objects } = this.#open(access);
    const path = folderOf(access) + name;
    objects.delete(path);
    if (this.#directory !== undefined) rmSync(this.#fileOf(key, path), { force: true });
  }

  #open(access: BucketAccess): { key: string; objects: Map<string, string> } {
    if (access.bucket === '') throw new Rke2Refusal('failed to initialize S3 client: s3 bucket name was not set');
    if (access.accessKey === '' || access.secretKey === '') {
      throw new Rke2Refusal(`failed to test for existence of bucket ${access.bucket}: Access Denied.`);
    }
    const key = `${access.endpoint}/${access.bucket}`;
    const objects = this.#objects.get(key) ?? new Map<string, string>();
    this.#objects.set(key, objects);
    const owner = objects.get(ownerFile);
    if (owner !== undefined && owner !== ownerOf(access)) {
      throw new Rke2Refusal(`failed to test for existence of bucket ${access.bucket}: Access Denied.`);
    }
    return { key, objects };
  }

  async #write(key: string, name: string, content: string): Promise<void> {
    this.#objects.get(key)?.set(name, content);
    if (this.#directory === undefined) return;
    mkdirSync(join(this.#directory, encodeURIComponent(key)), { recursive: true, mode: 0o700 });
    await writeFileAtomic(this.#fileOf(key, name), content, privateFileMode);
  }

  #fileOf(key: string, name: string): string {
    return join(this.#directory ?? '', encodeURIComponent(key), encodeURIComponent(name));
  }

  #readKept(directory: string): void {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const key of readdirSync(directory)) {
      const objects = new Map<string, string>();
      for (const name of readdirSync(join(directory, key))) {
        objects.set(decodeURIComponent(name), readFileSync(join(directory, key, name), 'utf8'));
      }
      this.#objects.set(decodeURIComponent(key), objects);
    }
  }
}

/** Prefix of the names of objects in the folder. */
function folderOf({ folder }: BucketAccess): string {
  const parts = folder.split('/').filter((part) => part !== '');
  return parts.map((part) => `${part}/`).join('');
}

function ownerOf({ accessKey, secretKey }: BucketAccess): string {
  return createHash('sha256').update(`${accessKey}\n${secretKey}`).digest('hex');
}
