import { type ExportWarningCode, exportWarningCodes } from '@lamina/annotations';
import { texts } from './texts.ts';

/**
 * Returns sentences about what the format of an export cannot store, with the number of annotations. Ignores codes that this version
 * of the app does not know.
 *
 * @param header value of `exportWarningsHeader`, such as `lines_left_out=2, hierarchy_flattened=7`
 */
export function exportWarningSentences(header: string): readonly string[] {
  return header.split(',').flatMap((entry) => {
    const [code = '', count] = entry.trim().split('=');
    return isWarningCode(code) ? texts.exportLoss(texts.exportLosses[code], Number(count)) : [];
  });
}

function isWarningCode(code: string): code is ExportWarningCode {
  return (exportWarningCodes as readonly string[]).includes(code);
}
