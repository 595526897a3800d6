import type {
  ClassJsonPatch,
  ClassPatch,
  ClusterClassSpec,
  PatchSelector,
  TemplateReference,
} from '../../../api/index.ts';
import { errorMessage, type FieldError, fieldError } from '../../../machinery/index.ts';
import { matchesName } from '../patches/engine.ts';
import { parseValueTemplate } from '../patches/value-template.ts';
import { parseVariablePath } from '../patches/variable-path.ts';
import { inline } from '../variables/definitions.ts';

/** Validates the patches of a class as far as possible without a Cluster. */
export function validatePatches(spec: ClusterClassSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  // variables of extensions are known only after discovery
  const hasDiscovered = (spec.patches ?? []).some(({ external }) => external?.discoverVariablesExtension !== undefined);
  const known = hasDiscovered ? undefined : new Set((spec.variables ?? []).map(({ name }) => name));
  spec.patches?.forEach((patch, i) => {
    const at = `${path}[${i}]`;
    if (seen.has(patch.name)) {
      const detail = `patch names must be unique. Patch with name "${patch.name}" is defined more than once`;
      errors.push(fieldError.invalid(`${at}.name`, patch.name, detail));
    }
    seen.add(patch.name);
    if (patch.name === inline) {
      const detail = `"${inline}" is no name for a patch: definitions of variables by that name are those of spec.variables`;
      errors.push(fieldError.invalid(`${at}.name`, patch.name, detail));
    }
    errors.push(...validatePatch(patch, spec, known, at));
  });
  return errors;
}

function validatePatch(
  patch: ClassPatch,
  spec: ClusterClassSpec,
  known: ReadonlySet<string> | undefined,
  path: string,
): FieldError[] {
  const { definitions, external, enabledIf } = patch;
  const errors: FieldError[] = [];
  if (enabledIf !== undefined) errors.push(...validateTemplate(enabledIf, `${path}.enabledIf`));
  if (definitions === undefined && external === undefined) {
    errors.push(fieldError.required(path, 'one of definitions or external must be defined'));
  }
  if (definitions !== undefined && external !== undefined) {
    errors.push(fieldError.invalid(path, patch.name, 'only one of definitions or external can be defined'));
  }
  if (external && external.generatePatchesExtension === undefined && external.validateTopologyExtension === undefined) {
    const detail = 'one of generatePatchesExtension or validateTopologyExtension must be defined';
    errors.push(fieldError.required(`${path}.external`, detail));
  }
  definitions?.forEach(({ selector, jsonPatches }, i) => {
    const at = `${path}.definitions[${i}]`;
    errors.push(...validateSelector(selector, spec, `${at}.selector`));
    jsonPatches.forEach((operation, j) => {
      errors.push(...validateOperation(operation, known, `${at}.jsonPatches[${j}]`));
    });
  });
  return errors;
}

function validateTemplate(text: string, path: string): FieldError[] {
  try {
    parseValueTemplate(text);
    return [];
  } catch (error) {
    return [fieldError.invalid(path, text, `template can not be parsed: ${errorMessage(error)}`)];
  }
}

function validateSelector(selector: PatchSelector, spec: ClusterClassSpec, path: string): FieldError[] {
  const { matchResources, apiVersion, kind } = selector;
  const errors: FieldError[] = [];
  const fits = (reference: TemplateReference | undefined): boolean =>
    reference?.apiVersion === apiVersion && reference.kind === kind;
  const at = `${path}.matchResources`;
  const described = `${apiVersion} ${kind}`;
  if (matchResources.infrastructureCluster === true && !fits(spec.infrastructure.templateRef)) {
    const detail = `selector matches no template: spec.infrastructure is no ${described}`;
    errors.push(fieldError.invalid(`${at}.infrastructureCluster`, true, detail));
  }
  const { controlPlane } = spec;
  if (
    matchResources.controlPlane === true &&
    !fits(controlPlane.templateRef) &&
    !fits(controlPlane.machineInfrastructure?.templateRef)
  ) {
    const detail = `selector matches no template: neither spec.controlPlane nor its machineInfrastructure is a ${described}`;
    errors.push(fieldError.invalid(`${at}.controlPlane`, true, detail));
  }
  matchResources.machineDeploymentClass?.names?.forEach((name, i) => {
    const field = `${at}.machineDeploymentClass.names[${i}]`;
    errors.push(...validateWildcard(name, field));
    const matching = (spec.workers?.machineDeployments ?? []).filter((worker) => matchesName(name, worker.class));
    if (
      !matching.some(({ bootstrap, infrastructure }) => fits(bootstrap.templateRef) || fits(infrastructure.templateRef))
    ) {
      const detail = `selector matches no template: no class of workers of that name has a ${described}`;
      errors.push(fieldError.invalid(field, name, detail));
    }
  });
  if (matchResources.machinePoolClass !== undefined) {
    errors.push(fieldError.forbidden(`${at}.machinePoolClass`, 'OpenStack has no machine pools'));
  }
  const selects =
    matchResources.infrastructureCluster === true ||
    matchResources.controlPlane === true ||
    (matchResources.machineDeploymentClass?.names ?? []).length > 0;
  if (!selects) errors.push(fieldError.invalid(at, matchResources, 'no resources are selected'));
  return errors;
}

function validateWildcard(name: string, path: string): FieldError[] {
  const stars = [...name].filter((character) => character === '*').length;
  if (stars === 0 || name === '*') return [];
  if (stars === 1 && (name.startsWith('*') || name.endsWith('*'))) return [];
  return [fieldError.invalid(path, name, '"*" is allowed once, at the beginning or at the end of a name')];
}

function validateOperation(
  { op, path: target, value, valueFrom }: ClassJsonPatch,
  known: ReadonlySet<string> | undefined,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (!target.startsWith('/spec/')) {
    errors.push(fieldError.invalid(`${path}.path`, target, 'jsonPatch path must start with "/spec/"'));
  }
  errors.push(...validateIndexes(op, target, `${path}.path`));
  if (op === 'remove') {
    if (value !== undefined || valueFrom !== undefined) {
      errors.push(fieldError.invalid(path, target, 'remove takes neither value nor valueFrom'));
    }
    return errors;
  }
  if (value === undefined && valueFrom === undefined) {
    errors.push(fieldError.invalid(path, target, 'jsonPatch must define one of value or valueFrom'));
  }
  if (value !== undefined && valueFrom !== undefined) {
    errors.push(fieldError.invalid(path, target, 'jsonPatch can not define both value and valueFrom'));
  }
  if (!valueFrom) return errors;
  const { variable, template } = valueFrom;
  if ((variable === undefined) === (template === undefined)) {
    const detail = 'valueFrom must define exactly one of variable or template';
    errors.push(fieldError.invalid(`${path}.valueFrom`, valueFrom, detail));
  }
  if (template !== undefined) errors.push(...validateTemplate(template, `${path}.valueFrom.template`));
  if (variable !== undefined) errors.push(...validateVariable(variable, known, `${path}.valueFrom.variable`));
  return errors;
}

/** Refuses list indexes, except 0 and `-` for add: other positions depend on the content of the list. */
function validateIndexes(op: ClassJsonPatch['op'], target: string, path: string): FieldError[] {
  const indexes = target.split('/').filter((part) => /^\d+$/.test(part) || part === '-');
  if (op === 'add') {
    return indexes.some((part) => part !== '0' && part !== '-')
      ? [fieldError.invalid(path, target, 'jsonPatch path: only index 0 or "-" of a list can be used to add')]
      : [];
  }
  return indexes.length > 0
    ? [fieldError.invalid(path, target, `jsonPatch path: lists cannot be indexed by ${op}`)]
    : [];
}

/** All builtin variables as a tree. Quoted keys below `metadata`, and list items, are user-defined. */
const metadata = { labels: 'any', annotations: 'any' } as const;
const builtins: Names = {
  cluster: {
    ...{ name: {}, namespace: {}, uid: {}, metadata },
    topology: { version: {}, class: {}, classNamespace: {}, classRef: { name: {}, namespace: {} } },
    network: { serviceDomain: {}, services: {}, pods: {} },
  },
  controlPlane: {
    ...{ name: {}, replicas: {}, version: {}, metadata },
    machineTemplate: { infrastructureRef: { name: {} } },
  },
  machineDeployment: {
    ...{ class: {}, name: {}, topologyName: {}, replicas: {}, version: {}, metadata },
    bootstrap: { configRef: { name: {} } },
    infrastructureRef: { name: {} },
  },
};
interface Names {
  readonly [name: string]: Names | 'any';
}

function isBuiltin(path: readonly { readonly name: string }[]): boolean {
  let names: Names | 'any' | undefined = builtins;
  for (const { name } of path) {
    if (names === 'any') return true;
    names = Object.hasOwn(names, name) ? names[name] : undefined;
    if (names === undefined) return false;
  }
  return true;
}

function validateVariable(variable: string, known: ReadonlySet<string> | undefined, path: string): FieldError[] {
  try {
    const [first, ...rest] = parseVariablePath(variable);
    const name = first?.name ?? '';
    if (name === 'builtin') {
      return isBuiltin(rest) ? [] : [fieldError.invalid(path, variable, 'no such builtin variable exists')];
    }
    if (!known || known.has(name)) return [];
    return [
      fieldError.invalid(path, variable, `variable with name "${name}" cannot be found: spec.variables has none`),
    ];
  } catch (error) {
    return [fieldError.invalid(path, variable, errorMessage(error))];
  }
}
