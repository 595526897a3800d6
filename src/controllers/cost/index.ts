// Entry point of cluster costs, computed from a price table.
export { type ClusterCost, clusterCosts } from './cluster-costs.ts';
export { showCosts } from './cost-metrics.ts';
export { guidePrices, hoursPerMonth, type Prices, readPrices } from './prices.ts';
