import type { JsonObject, JsonValue } from '../../machinery/index.ts';

/** A chart as its files say; it does not change, and one chart may be rendered many times. */
export interface Chart {
  readonly metadata: ChartMetadata;
  /** the defaults, `values.yaml` */
  readonly values: JsonObject;
  /** the text of `values.schema.json` */
  readonly schema: string | undefined;
  readonly templates: readonly ChartTemplate[];
  /** what is neither metadata, values, template nor subchart; `crds/` is here */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly subcharts: readonly Chart[];
  /** oddities that are no error */
  readonly warnings: readonly string[];
}

export interface ChartTemplate {
  /** `templates/deployment.yaml` */
  readonly name: string;
  readonly text: string;
}

export interface Maintainer {
  readonly name: string;
  readonly email: string;
  readonly url: string;
}

/** What Chart.yaml says; an absent text is empty. */
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
