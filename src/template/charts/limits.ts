import type { Limits } from '../limits.ts';

/** Limits of a chart, from its archive to its rendered documents. Charts may come from untrusted tenants. */
export interface ChartLimits extends Limits {
  /** bytes of one archive, packed and unpacked */
  readonly archiveBytes: number;
  readonly unpackedBytes: number;
  /** bytes of one file */
  readonly fileBytes: number;
  /** files of a chart including subcharts */
  readonly files: number;
  /** nesting depth of charts */
  readonly chartDepth: number;
  /** charts of one rendering; each alias counts */
  readonly charts: number;
  /** documents of one rendering */
  readonly documents: number;
}

/** Helm's limits, and additional ones where it has none. Large public charts take about ten thousand steps. */
export const defaultChartLimits: ChartLimits = {
  steps: 2_000_000,
  depth: 300,
  outputCharacters: 16 * 1024 * 1024,
  archiveBytes: 20 * 1024 * 1024,
  unpackedBytes: 100 * 1024 * 1024,
  fileBytes: 5 * 1024 * 1024,
  files: 10_000,
  chartDepth: 10,
  charts: 500,
  documents: 10_000,
};
