import type { Limits } from '../limits.ts';

/** What a chart may take, from its archive to its last document. Charts come from tenants. */
export interface ChartLimits extends Limits {
  /** bytes of one archive, packed and unpacked */
  readonly archiveBytes: number;
  readonly unpackedBytes: number;
  /** bytes of one file */
  readonly fileBytes: number;
  /** files of a chart with all its subcharts */
  readonly files: number;
  /** charts within charts */
  readonly chartDepth: number;
  /** charts of one rendering; each alias counts */
  readonly charts: number;
  /** documents of one rendering */
  readonly documents: number;
}

/** Helm's own sizes, and bounds where it has none. Large public charts take some ten thousand steps. */
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
