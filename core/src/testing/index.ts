export { fakeClock, type FakeClock } from './fake-clock.ts';
export { memoryLog, type LogRecord, type MemoryLog } from './memory-log.ts';
export { memoryMeter, type MemoryMeter, type Series } from './memory-meter.ts';
