import { formatFoldedYaml } from '../../machinery/index.ts';
import { FunctionError } from '../errors.ts';
import { plainJson } from '../functions/go-json.ts';
import { type GoMethod, isMap, type Value, type ValueMap, withMethods, withTypeName } from '../values/index.ts';

/** Adds the methods of Helm's `.Values` to a map. */
export function asValues(values: ValueMap): ValueMap {
  return withMethods(methods(values), withTypeName('chartutil.Values', values));
}

function methods(values: ValueMap): Readonly<Record<string, GoMethod>> {
  return {
    AsMap: { parameters: [], call: () => values },
    YAML: { parameters: [], call: () => formatFoldedYaml(plainJson(values), 80) },
    Table: {
      parameters: ['string'],
      call: ([path]) => {
        const table = at(values, path);
        if (!isMap(table)) throw new FunctionError(`${JSON.stringify(String(path).split('.').at(-1))} is not a table`);
        return asValues(table);
      },
    },
    PathValue: {
      parameters: ['string'],
      call: ([path]) => {
        const value = at(values, path);
        if (value === undefined || isMap(value)) {
          throw new FunctionError(`${JSON.stringify(String(path).split('.').at(-1))} is not a value`);
        }
        return value;
      },
    },
  };
}

function at(values: ValueMap, path: Value): Value {
  let value: Value = values;
  for (const key of String(path).split('.')) value = isMap(value) ? value.get(key) : undefined;
  return value;
}
