export * from './answer-limit.ts';
export * from './clock.ts';
export * from './go-duration.ts';
export * from './human-duration.ts';
export * from './random.ts';
export * from './rfc3339.ts';
export * from './schedule.ts';
export * from './sleep.ts';
