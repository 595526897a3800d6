import { parseDocument } from 'yaml';
import { isJsonObject } from '../../../machinery/index.ts';
import { type CloudConfig, renderCloudConfig } from '../common/cloud-config.ts';

const lists = ['write_files', 'runcmd'] as const;

/**
 * User data with the user's own behind it. Where both have files or commands, ours come first and theirs follow: a second
 * list of the same name would silently take the place of the first.
 */
export function withCustomUserData(generated: CloudConfig, custom: string): string {
  const parsed = readCloudConfig(custom);
  const shared = parsed ? lists.filter((name) => Array.isArray(parsed[name])) : [];
  if (!parsed || shared.length === 0) return `${renderCloudConfig(generated)}\n#cloud-config\n${custom}`;
  return renderCloudConfig(generated, parsed);
}

/** Text with expressions in places YAML has no room for is nobody's to read before cloud-init has filled it in. */
function readCloudConfig(text: string): Record<string, unknown> | undefined {
  const document = parseDocument(text, { version: '1.1' });
  if (document.errors.length > 0) return undefined;
  const value: unknown = document.toJS();
  return isJsonObject(value) ? value : undefined;
}
