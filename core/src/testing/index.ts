export { askJudge, type AskJudgeOptions } from './ask-judge.ts';
export { fakeClock, type FakeClock } from './fake-clock.ts';
export { haproxyWords } from './haproxy-words.ts';
export { hostilePieces } from './hostile-text.ts';
export { memoryLog, type LogRecord, type MemoryLog } from './memory-log.ts';
export { memoryMeter, type MemoryMeter, type Series } from './memory-meter.ts';
export { pluginContract, type ContractCheck, type PluginSubject } from './plugin-contract.ts';
export {
  compileTemplates,
  problemsOf,
  renderBody,
  renderTemplates,
  templateConfig,
  type TemplateSet,
} from './templates.ts';
export {
  validatorConformance,
  type ConformanceOptions,
  type SampleFile,
  type Target,
} from './validator-conformance/index.ts';
