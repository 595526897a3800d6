import { isJsonObject } from '../../../machinery/index.ts';

/** Content of a member's data directory. */
export interface EtcdData {
  readonly clusterId: string;
  readonly memberId: string;
}

const fileName = 'member/snap/db';

export function dataFile(dataDirectory: string): string {
  return `${dataDirectory.replace(/\/$/, '')}/${fileName}`;
}

export function writeEtcdData(data: EtcdData): string {
  return `${JSON.stringify(data)}\n`;
}

/** Returns undefined for anything else. */
export function readEtcdData(text: string | undefined): EtcdData | undefined {
  if (text === undefined || text.length > 1_000 || !text.startsWith('{"clusterId":')) return undefined;
  try {
    const data: unknown = JSON.parse(text);
    if (!isJsonObject(data)) return undefined;
    const { clusterId, memberId } = data;
    return typeof clusterId === 'string' && typeof memberId === 'string' ? { clusterId, memberId } : undefined;
  } catch {
    return undefined;
  }
}
