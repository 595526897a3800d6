export { chartFiles, readArchive } from './archive.ts';
export type { Capabilities } from './capabilities.ts';
export type { Chart, ChartDependency, ChartMetadata, ChartTemplate } from './chart.ts';
export { mergeValues } from './coalesce.ts';
export {
  type HookDeletePolicy,
  type HookEvent,
  hooksFor,
  type RenderedHook,
  type RenderedObject,
} from './hooks.ts';
export { type ChartLimits, defaultChartLimits } from './limits.ts';
export { loadChart } from './load.ts';
export { type LookUp, type Release, type RenderChartOptions, type RenderedChart, renderChart } from './render.ts';
