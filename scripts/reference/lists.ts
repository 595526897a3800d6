import type { Argument, Command } from 'commander';
import { conditionMeanings, kindConditions, notActedOn, wellKnownNames } from '../../src/api/index.ts';
import { environmentVariables } from '../../src/cli/environment-variables.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { errorCodes } from '../../src/machinery/index.ts';
import { eventReasons } from '../../src/runtime/index.ts';
import { code, page, table } from './markdown.ts';
import type { Metric } from './metrics.ts';

export function namesPage(): string {
  const section = (title: string, by: 'user' | 'capstan'): string => {
    const rows = [...wellKnownNames]
      .filter(([, name]) => name.by === by)
      .map(([name, { type, on, meaning }]) => [code(name), type, on, meaning]);
    return `## ${title}\n\n${table(['name', 'what', 'on', 'meaning'], rows)}`;
  };
  return page(
    'Annotations, labels and other names',
    '`*` stands for a variable part. Labels of Kubernetes itself are not listed.',
    section('What you write', 'user'),
    section('What Capstan writes', 'capstan'),
  );
}

export function conditionsPage(): string {
  const kinds = new Map<string, string[]>();
  for (const [resource, { conditions, legacy = [] }] of Object.entries(kindConditions)) {
    for (const type of new Set([...conditions, ...legacy])) kinds.set(type, [...(kinds.get(type) ?? []), resource]);
  }
  const rows = Object.entries(conditionMeanings).map(([type, meaning]) => [
    code(type),
    meaning,
    (kinds.get(type) ?? []).map((resource) => resource.split('.')[0]).join(', '),
  ]);
  return page(
    'Conditions',
    'A condition is `True`, `False` or `Unknown`. Its reason and message name the cause and what to do. `Deleting`, `Paused`, ' +
      '`RollingOut`, `ScalingUp`, `ScalingDown`, `ControlPlaneScaling`, `Remediating`, `Updating`, `Downloading` and `Progressing` are `False` in a healthy cluster without changes; all others are `True`. ' +
      'The page of each kind lists its own conditions.',
    table(['type', 'True means', 'kinds'], rows),
  );
}

export function eventsPage(): string {
  return page(
    'Events',
    'Events are on the object that they are about: `kubectl describe`, `kubectl events`. A `Warning` that repeats the message of a ' +
      'condition also has its reason; such reasons are not listed here. Pods have the events of the kubelet.',
    table(
      ['reason', 'meaning'],
      Object.entries(eventReasons).map(([reason, meaning]) => [code(reason), meaning]),
    ),
  );
}

export function errorsPage(): string {
  return page(
    'Error codes',
    'Commands print the code with the message and a hint: `error: … (CAP_…)`. The exit code is 2 for `CAP_USAGE` and 1 for all others. ' +
      'Controllers put the same messages into conditions and logs.',
    table(
      ['code', 'meaning'],
      Object.entries(errorCodes).map(([name, meaning]) => [code(name), meaning]),
    ),
  );
}

export function metricsPage(metrics: readonly Metric[]): string {
  const rows = metrics.map(({ name, type, labels, help }) => [code(name), type, labels.map(code).join(', '), help]);
  return page(
    'Metrics',
    '`GET /metrics` of the management API, in the Prometheus text format. It needs credentials that may `get` the path, or ' +
      '`--anonymous-paths /metrics`.',
    table(['name', 'type', 'labels', 'meaning'], rows),
  );
}

export function notActedOnPage(): string {
  return page(
    'Kinds that are served but not acted on',
    'Capstan serves these kinds so that manifests and other programs work. No controller acts on them yet. If you create or change such ' +
      'an object, the API sends a `Warning:` header, which `kubectl` prints.',
    table(
      ['kind', 'resource', 'instead'],
      notActedOn.map(({ kind, resource, note }) => [kind, code(resource), note]),
    ),
    'The embedded API also stores these kinds of Kubernetes, but does not act on them: `HorizontalPodAutoscaler`, ' +
      '`NetworkPolicy`, `RuntimeClass`, `CSIDriver`, `CSINode`, `CSIStorageCapacity`, `VolumeAttachment`, `PodTemplate`. There is no warning for them, as in a Kubernetes without the components for these kinds.',
  );
}

export function environmentPage(): string {
  const program = buildProgram(() => {});
  return page(
    'Environment variables and flags',
    `## Environment variables\n\n${table(
      ['variable', 'meaning'],
      Object.entries(environmentVariables).map(([name, meaning]) => [code(name), meaning]),
    )}`,
    '## Flags of all commands',
    flagTable(program),
    ...commandsOf(program, []).map(
      ({ name, command }) => `## ${name}\n\n${command.description()}\n\n${flagTable(command)}`,
    ),
  );
}

function commandsOf(command: Command, above: readonly string[]): { name: string; command: Command }[] {
  return command.commands.flatMap((child) => {
    if ((child as { _hidden?: boolean })._hidden === true || child.name() === 'help') return [];
    const path = [...above, child.name()];
    const usage = child.registeredArguments.map((argument) => ` ${argumentText(argument)}`).join('');
    const own = child.commands.length === 0 ? [{ name: `capstan ${path.join(' ')}${usage}`, command: child }] : [];
    return [...own, ...commandsOf(child, path)];
  });
}

function argumentText(argument: Argument): string {
  const text = `${argument.name().toUpperCase()}${argument.variadic ? '…' : ''}`;
  return argument.required ? text : `[${text}]`;
}

function flagTable(command: Command): string {
  const options = command.options.filter(({ hidden }) => !hidden);
  if (options.length === 0) return 'No flags.';
  return table(
    ['flag', 'default', 'meaning'],
    options.map(({ flags, defaultValue, description, argChoices }) => [
      code(flags),
      defaultValue === undefined || typeof defaultValue === 'boolean' ? '' : code(String(defaultValue)),
      argChoices === undefined ? description : `${description}: ${argChoices.map(code).join(', ')}`,
    ]),
  );
}
