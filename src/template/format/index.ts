export { formatFloat } from './float.ts';
export { type PrintBudget, printValue } from './print.ts';
export { sprint, sprintf, sprintln } from './sprintf.ts';
