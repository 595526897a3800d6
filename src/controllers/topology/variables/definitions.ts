import type { ClassVariable, ClassVariableStatus, VariableDefinition } from '../../../api/index.ts';
import { deepEqual, type FieldError, fieldError, validateVersionSchema } from '../../../machinery/index.ts';
import { unwrapPath, wrapped, wrappedSchema } from './schema.ts';

/** Source of variables defined in `spec.variables`, in contrast to those of extensions. */
export const inline = 'inline';

/** Validates `spec.variables` of a ClusterClass. */
export function validateClassVariables(variables: readonly ClassVariable[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  variables.forEach((variable, i) => {
    const { name } = variable;
    if (seen.has(name)) {
      const detail = `variable name must be unique. Variable with name "${name}" is defined more than once`;
      errors.push(fieldError.invalid(`${path}[${i}].name`, name, detail));
    }
    seen.add(name);
    errors.push(...validateDefinition(variable, `${path}[${name}]`));
  });
  return errors;
}

function validateDefinition(variable: Pick<ClassVariable, 'name' | 'schema'>, path: string): FieldError[] {
  const { name, schema } = variable;
  const errors: FieldError[] = [];
  if (name === 'builtin') {
    errors.push(fieldError.invalid(`${path}.name`, name, '"builtin" is a reserved variable name'));
  } else if (name === '') errors.push(fieldError.required(`${path}.name`, 'variable name must be defined'));
  if (name.includes('.')) {
    errors.push(fieldError.invalid(`${path}.name`, name, 'variable name cannot contain "."'));
  }
  const schemaPath = `${path}.schema.openAPIV3Schema`;
  const placeholder = 'schema';
  for (const error of validateVersionSchema(wrappedSchema(schema.openAPIV3Schema), false, placeholder)) {
    errors.push({ ...error, field: unwrapPath(error.field, schemaPath, `${placeholder}.properties[${wrapped}]`) });
  }
  return errors;
}

/** Merges variables of class and extensions for the status: by name, with conflicts marked. */
export function definitionsByName(
  sources: readonly { readonly from: string; readonly variables: readonly ClassVariable[] }[],
): ClassVariableStatus[] {
  const byName = new Map<string, VariableDefinition[]>();
  for (const { from, variables } of sources) {
    for (const { name, ...definition } of variables) {
      const known = byName.get(name);
      if (known) known.push({ from, ...definition });
      else byName.set(name, [{ from, ...definition }]);
    }
  }
  return [...byName]
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, definitions]) => {
      const [first] = definitions;
      const same = (other: VariableDefinition): boolean =>
        other.required === first?.required && deepEqual(other.schema, first.schema);
      return { name, definitionsConflict: !definitions.every(same), definitions };
    });
}
