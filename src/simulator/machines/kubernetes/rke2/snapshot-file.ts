import { createHash } from 'node:crypto';
import { isJsonObject } from '../../../../machinery/index.ts';
import { Rke2Refusal } from './refusal.ts';

/** A snapshot of rke2: the keys of etcd, and the files that all servers share, encrypted with the token. */
export interface SnapshotFile {
  readonly files: ReadonlyMap<string, string>;
  readonly keys: string;
}

const hashOf = (token: string | undefined): string =>
  createHash('sha256')
    .update(token ?? '')
    .digest('hex');

export function snapshotText({ files, keys }: SnapshotFile, token: string | undefined): string {
  return `${JSON.stringify({ token: hashOf(token), files: Object.fromEntries(files) })}\n${keys}`;
}

/** Reads a snapshot as a server with this token would. */
export function readSnapshotText(text: string, token: string | undefined): SnapshotFile {
  const end = text.indexOf('\n');
  const head = headOf(text.slice(0, end));
  if (head['token'] !== hashOf(token)) {
    throw new Rke2Refusal(
      'failed to restore the snapshot: bootstrap data already found and encrypted with different token',
    );
  }
  const files = isJsonObject(head['files']) ? Object.entries(head['files']) : [];
  return { files: new Map(files.map(([name, content]) => [name, String(content)])), keys: text.slice(end + 1) };
}

function headOf(line: string): Record<string, unknown> {
  try {
    const head: unknown = JSON.parse(line);
    if (isJsonObject(head)) return head;
  } catch {
    // reported below
  }
  throw new Rke2Refusal('failed to restore the snapshot: snapshot missing hash but --skip-hash-check=false');
}
