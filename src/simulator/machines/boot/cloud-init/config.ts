import { LineCounter, parseDocument } from 'yaml';
import type { RunningMachine } from '../../types.ts';
import { instanceData } from '../metadata.ts';
import { renderJinja, TemplateError } from './jinja.ts';
import { kindOfText, type UserData, type UserDataPart } from './parts.ts';
import { schemaErrors } from './schema.ts';

/** Merged user data. */
export interface CloudConfig {
  readonly config: Readonly<Record<string, unknown>>;
  /** run in this order, before the script of runcmd */
  readonly scripts: readonly { readonly name: string; readonly text: string }[];
  readonly boothooks: readonly { readonly name: string; readonly text: string }[];
  readonly warnings: readonly string[];
}

interface Collected {
  config: Record<string, unknown>;
  readonly scripts: { name: string; text: string }[];
  readonly boothooks: { name: string; text: string }[];
  readonly warnings: string[];
}

/** Merges the parts of user data. Parts that cannot be used give a warning with cloud-init's message. */
export function combineParts({ parts, warnings }: UserData, machine: RunningMachine): CloudConfig {
  const into: Collected = { config: {}, scripts: [], boothooks: [], warnings: [...warnings] };
  for (const part of parts) take(part, machine, into);
  const errors = schemaErrors(into.config);
  if (errors.length > 0) {
    into.warnings.push(`schema.py[WARNING]: Invalid cloud-config provided:\n${errors.join('\n')}`);
  }
  return into;
}

function take(part: UserDataPart, machine: RunningMachine, into: Collected): void {
  switch (part.kind) {
    case 'jinja': {
      const body = rendered(part, machine, into.warnings);
      const kind = body === undefined ? undefined : kindOfText(body);
      if (body === undefined) return;
      if (kind === undefined || kind === 'jinja') {
        into.warnings.push(
          `jinja_template.py[WARNING]: Unable to determine the type of the rendered template ${part.name}`,
        );
      } else take({ ...part, kind, text: body }, machine, into);
      return;
    }
    case 'script':
      into.scripts.push({ name: part.name, text: part.text });
      return;
    case 'boothook':
      into.boothooks.push({ name: part.name, text: part.text });
      return;
    case 'archive':
      takeArchive(part, machine, into);
      return;
    case 'cloud-config': {
      const value = yamlOf(part, into.warnings);
      if (value === undefined) return;
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        if (value === null) return;
        into.warnings.push(
          `util.py[WARNING]: Failed loading yaml blob. Yaml load allows (<class 'dict'>,) root types, but got ${pythonType(value)} instead`,
          `cloud_config.py[WARNING]: Failed at merging in cloud config part from ${part.name}`,
        );
        return;
      }
      into.config = merged(into.config, value as Record<string, unknown>);
      return;
    }
    default:
      return;
  }
}

/** Renders a template, without the line that marks it as one. */
function rendered(part: UserDataPart, machine: RunningMachine, warnings: string[]): string | undefined {
  const body = part.text.slice(part.text.indexOf('\n') + 1);
  try {
    const { text, missing } = renderJinja(body, instanceData(machine));
    if (missing.length > 0) {
      const names = [...new Set(missing)].map((name) => `'${name}'`).join(', ');
      warnings.push(
        `jinja_template.py[WARNING]: Could not render jinja template variables in file '${part.name}': ${names}`,
      );
    }
    return text;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    warnings.push(
      `jinja_template.py[WARNING]: Failed to render templated user-data file '${part.name}'. Unable to parse Jinja template due to syntax error: ${error.message} on line ${error.line + 1}`,
    );
    return undefined;
  }
}

function yamlOf(part: UserDataPart, warnings: string[]): unknown {
  const lines = new LineCounter();
  // PyYAML reads YAML 1.1: 0644 is octal, yes is true, and keys may be duplicated.
  const document = parseDocument(part.text, {
    version: '1.1',
    uniqueKeys: false,
    lineCounter: lines,
    prettyErrors: false,
    merge: true,
  });
  const [problem] = document.errors;
  if (!problem) return document.toJS({ maxAliasCount: 1000 }) as unknown;
  const { line, col } = lines.linePos(problem.pos[0]);
  warnings.push(
    `util.py[WARNING]: Failed loading yaml blob. Invalid format at line ${line} column ${col}: "${problem.message}"`,
    `cloud_config.py[WARNING]: Failed at merging in cloud config part from ${part.name}`,
  );
  return undefined;
}

function takeArchive(part: UserDataPart, machine: RunningMachine, into: Collected): void {
  const list = yamlOf(part, into.warnings);
  if (!Array.isArray(list)) return;
  for (const [index, entry] of list.entries()) {
    const content = typeof entry === 'string' ? entry : (entry as { content?: unknown } | null)?.content;
    if (typeof content !== 'string') continue;
    const kind = kindOfText(content) ?? 'cloud-config';
    take({ kind, name: `${part.name}-${index + 1}`, text: content }, machine, into);
  }
}

/**
 * Merges several cloud-configs. A later key replaces an earlier one, unless `merge_how` of the later config appends
 * lists or merges dictionaries.
 */
function merged(base: Record<string, unknown>, next: Record<string, unknown>): Record<string, unknown> {
  const how = JSON.stringify(next['merge_how'] ?? next['merge_type'] ?? '');
  const appends = /list\(append|"list".*append/.test(how);
  const recurses = /dict\([^)]*recurse|"dict".*recurse/.test(how);
  const join = (old: unknown, fresh: unknown): unknown => {
    if (appends && Array.isArray(old) && Array.isArray(fresh)) return [...(old as unknown[]), ...(fresh as unknown[])];
    if (recurses && isDictionary(old) && isDictionary(fresh)) {
      const both: Record<string, unknown> = { ...old };
      for (const [key, value] of Object.entries(fresh)) both[key] = key in both ? join(both[key], value) : value;
      return both;
    }
    return fresh;
  };
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(next)) result[key] = key in result ? join(result[key], value) : value;
  return result;
}

export function isDictionary(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function pythonType(value: unknown): string {
  if (Array.isArray(value)) return "<class 'list'>";
  if (value === null || value === undefined) return "<class 'NoneType'>";
  const names: Readonly<Record<string, string>> = { string: 'str', number: 'int', boolean: 'bool', object: 'dict' };
  return `<class '${names[typeof value] ?? 'object'}'>`;
}
