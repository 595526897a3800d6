import { stringList, type Value, type ValueMap, withElements } from '../values/index.ts';
import type { Maintainer } from './chart.ts';
import { GoStruct } from './go-struct.ts';
import type { ChartInstance, DependencyState } from './instance.ts';

/** Builds `.Chart`. */
export function chartObject(chart: ChartInstance): Value {
  const { metadata } = chart;
  return new GoStruct('struct { chart.Metadata; IsRoot bool }', {
    embedded: 17,
    fields: [
      { name: 'Name', value: chart.name, json: 'name' },
      { name: 'Home', value: metadata.home, json: 'home' },
      { name: 'Sources', value: stringList([...metadata.sources]), json: 'sources' },
      { name: 'Version', value: metadata.version, json: 'version' },
      { name: 'Description', value: metadata.description, json: 'description' },
      { name: 'Keywords', value: stringList([...metadata.keywords]), json: 'keywords' },
      {
        name: 'Maintainers',
        value: withElements('*chart.Maintainer', metadata.maintainers.map(maintainerObject)),
        json: 'maintainers',
      },
      { name: 'Icon', value: metadata.icon, json: 'icon' },
      { name: 'APIVersion', value: metadata.apiVersion, json: 'apiVersion' },
      { name: 'Condition', value: metadata.condition, json: 'condition' },
      { name: 'Tags', value: metadata.tags, json: 'tags' },
      { name: 'AppVersion', value: metadata.appVersion, json: 'appVersion' },
      { name: 'Deprecated', value: metadata.deprecated, json: 'deprecated' },
      { name: 'Annotations', value: textMap(metadata.annotations), json: 'annotations' },
      { name: 'KubeVersion', value: metadata.kubeVersion, json: 'kubeVersion' },
      {
        name: 'Dependencies',
        value: withElements('*chart.Dependency', chart.dependencies.map(dependencyObject)),
        json: 'dependencies',
      },
      { name: 'Type', value: metadata.type, json: 'type' },
      { name: 'IsRoot', value: chart.parent === undefined },
    ],
  });
}

function textMap(texts: Readonly<Record<string, string>>): ValueMap {
  return withElements('string', new Map<string, Value>(Object.entries(texts)));
}

function maintainerObject({ name, email, url }: Maintainer): Value {
  return new GoStruct('*chart.Maintainer', {
    kind: 'ptr',
    fields: [
      { name: 'Name', value: name, json: 'name' },
      { name: 'Email', value: email, json: 'email' },
      { name: 'URL', value: url, json: 'url' },
    ],
  });
}

function dependencyObject(dependency: DependencyState): Value {
  return new GoStruct('*chart.Dependency', {
    kind: 'ptr',
    fields: [
      { name: 'Name', value: dependency.name, json: 'name', isAlwaysShown: true },
      { name: 'Version', value: dependency.version, json: 'version' },
      { name: 'Repository', value: dependency.repository, json: 'repository', isAlwaysShown: true },
      { name: 'Condition', value: dependency.condition, json: 'condition' },
      { name: 'Tags', value: stringList([...dependency.tags]), json: 'tags' },
      { name: 'Enabled', value: dependency.isEnabled, json: 'enabled' },
      { name: 'Alias', value: dependency.alias, json: 'alias' },
    ],
  });
}
