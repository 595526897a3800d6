import type { JsonObject, JsonValue } from '../../machinery/index.ts';

/** A loaded chart. It is immutable and can be rendered many times. */
export interface Chart {
  readonly metadata: ChartMetadata;
  /** defaults from `values.yaml` */
  readonly values: JsonObject;
  /** text of `values.schema.json` */
  readonly schema: string | undefined;
  readonly templates: readonly ChartTemplate[];
  /** all other files, including `crds/` */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly subcharts: readonly Chart[];
  /** irregularities that are not errors */
  readonly warnings: readonly string[];
}

export interface ChartTemplate {
  /** for example `templates/deployment.yaml` */
  readonly name: string;
  readonly text: string;
}

export interface Maintainer {
  readonly name: string;
  readonly email: string;
  readonly url: string;
}

/** Contents of Chart.yaml. Missing strings are empty. */
export interface ChartMetadata {
  readonly name: string;
  readonly home: string;
  readonly sources: readonly string[];
  readonly version: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly maintainers: readonly Maintainer[];
  readonly icon: string;
  readonly apiVersion: string;
  readonly condition: string;
  readonly tags: string;
  readonly appVersion: string;
  readonly deprecated: boolean;
  readonly annotations: Readonly<Record<string, string>>;
  readonly kubeVersion: string;
  readonly dependencies: readonly ChartDependency[];
  readonly type: string;
}

export interface ChartDependency {
  readonly name: string;
  readonly version: string;
  readonly repository: string;
  readonly condition: string;
  readonly tags: readonly string[];
  readonly importValues: readonly JsonValue[];
  readonly alias: string;
}
