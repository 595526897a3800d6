import { conditionMeanings, kindConditions, notActedOn, notActedOnWarning } from '../../src/api/index.ts';
import { must, type ResourceDefinition, type VersionDefinition } from '../../src/machinery/index.ts';
import { type FieldRow, fieldsOf } from './fields.ts';
import { code, page, table } from './markdown.ts';

export const kindPath = ({ group, kind }: ResourceDefinition): string => `${group}/${kind.toLowerCase()}.md`;

export function kindPage(definition: ResourceDefinition): string {
  const { group, kind, plural, shortNames, categories, namespaced, storageVersion, versions } = definition;
  const stored = must(
    versions.find(({ name }) => name === storageVersion),
    storageVersion,
  );
  const resource = `${plural}.${group}`;
  const names = [
    ['resource', code(resource)],
    ['short names', shortNames.map(code).join(', ') || 'none'],
    ['categories', categories.map(code).join(', ') || 'none'],
    ['scope', namespaced ? 'namespace' : 'cluster'],
    ['versions', versions.map((version) => describeVersion(version, storageVersion)).join(', ')],
    ['subresources', subresources(stored)],
  ];
  const warnings = notActedOn
    .filter((entry) => entry.resource === resource)
    .map((entry) => `> Warning: ${notActedOnWarning(entry)}`);
  return page(
    kind,
    stored.schema.description,
    ...warnings,
    table(['', ''], names),
    `## Fields of ${storageVersion}\n\n${fieldTable(fieldsOf(stored.schema))}`,
    ...versions.slice(1).map((version, index) => oldVersion(version, must(versions[index], 'the version before'))),
    columnsOf(stored),
    conditionsOf(resource),
  );
}

function describeVersion({ name, deprecated }: VersionDefinition, storage: string): string {
  const notes = [...(name === storage ? ['stored'] : []), ...(deprecated === true ? ['deprecated'] : [])];
  return notes.length === 0 ? code(name) : `${code(name)} (${notes.join(', ')})`;
}

function subresources({ hasStatus, scale }: VersionDefinition): string {
  return [...(hasStatus ? ['status'] : []), ...(scale === undefined ? [] : ['scale'])].map(code).join(', ') || 'none';
}

const rowOf = ({ path, type, required, rules, description }: FieldRow): string[] => [
  code(path),
  required ? `${type}, required` : type,
  rules,
  description,
];

const fieldTable = (rows: readonly FieldRow[]): string =>
  rows.length === 0 ? 'None.' : table(['field', 'type', 'rules', 'meaning'], rows.map(rowOf));

/** Describes the fields that only one of two adjacent versions has, or that have different types. */
function oldVersion(version: VersionDefinition, newer: VersionDefinition): string {
  const before = fieldsOf(version.schema);
  const after = fieldsOf(newer.schema);
  const own = differing(before, after);
  // Alpha versions are rarely used, so only their top-level fields are listed.
  const added = version.name.includes('alpha') ? topmost(own) : own;
  const removed = topmost(differing(after, before)).filter(({ path }) => !before.some((row) => row.path === path));
  return [
    `## ${version.name}, compared with ${newer.name}`,
    added.length === 0
      ? 'It has no other fields.'
      : table(
          ['field', 'type', 'meaning'],
          added.map(({ path, type, description }) => [code(path), type, description]),
        ),
    removed.length > 0 && `Not in this version: ${removed.map(({ path }) => code(path)).join(', ')}.`,
  ]
    .filter((block) => block !== false)
    .join('\n\n');
}

/** Returns the rows missing in the others, by path and type. Kubernetes types are equal whether expanded or not. */
function differing(rows: readonly FieldRow[], others: readonly FieldRow[]): FieldRow[] {
  const known = new Map(others.map((row) => [row.path, row.type]));
  const spread = [...rows, ...others].filter(({ type }) => type.endsWith('of Kubernetes')).map(({ path }) => path);
  return rows.filter(({ path, type }) => {
    const other = known.get(path);
    if (spread.some((top) => isBelow(path, top) || (path === top && other !== undefined))) return false;
    return other !== type;
  });
}

const isBelow = (path: string, top: string): boolean => path.startsWith(`${top}.`) || path.startsWith(`${top}[]`);

/** Removes fields below a listed object, because the object stands for all of them. */
function topmost(rows: readonly FieldRow[]): FieldRow[] {
  const objects = rows.filter(({ type }) => type.includes('object')).map(({ path }) => path);
  return rows.filter(({ path }) => !objects.some((top) => isBelow(path, top)));
}

function columnsOf({ printer }: VersionDefinition): string {
  const rows = printer.columns.map(({ name, priority }) => [name, (priority ?? 0) > 0 ? '`-o wide`' : 'always']);
  return `## Columns of kubectl get\n\n${table(['column', 'shown'], rows)}`;
}

function conditionsOf(resource: string): string | undefined {
  const known = kindConditions[resource];
  if (known === undefined) return undefined;
  const rows = known.conditions.map((type) => [code(type), conditionMeanings[type]]);
  return `## Conditions\n\n${table(['type', 'True means'], rows)}${
    known.legacy === undefined ? '' : `\n\nClients of v1beta1 read: ${known.legacy.map(code).join(', ')}.`
  }`;
}
