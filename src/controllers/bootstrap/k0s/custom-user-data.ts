import { parseDocument } from 'yaml';
import { isJsonObject } from '../../../machinery/index.ts';
import { type CloudConfig, renderCloudConfig } from '../common/cloud-config.ts';

const lists = ['write_files', 'runcmd'] as const;

/**
 * Appends the user's own user data. Files and commands of both are merged, generated ones first: a second list of the
 * same name would replace the first in cloud-init.
 */
export function withCustomUserData(generated: CloudConfig, custom: string): string {
  const parsed = readCloudConfig(custom);
  const shared = parsed ? lists.filter((name) => Array.isArray(parsed[name])) : [];
  if (!parsed || shared.length === 0) return `${renderCloudConfig(generated)}\n#cloud-config\n${custom}`;
  return renderCloudConfig(generated, parsed);
}

/**
 * Parses cloud-config; undefined if Jinja expressions make it invalid YAML, because only cloud-init can render those.
 */
function readCloudConfig(text: string): Record<string, unknown> | undefined {
  const document = parseDocument(text, { version: '1.1' });
  if (document.errors.length > 0) return undefined;
  const value: unknown = document.toJS();
  return isJsonObject(value) ? value : undefined;
}
