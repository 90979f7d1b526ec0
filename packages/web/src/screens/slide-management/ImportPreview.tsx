import type { ImportedChange, ImportPlan, ImportProblem } from '@lamina/contract';
import { Alert, Button, Stack, Text, Title, VisuallyHidden } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { formatNumber } from '../../formatting/numbers.ts';
import { LineList } from './LineList.tsx';
import classes from './SlideManagement.module.css';
import { fieldLabels, texts } from './texts.ts';

interface ImportPreviewProps {
  readonly fileName: string;
  /** What the file would change, as the server computed it. */
  readonly plan: ImportPlan;
  /** Whether this preview replaces an earlier one, which could not be applied because the catalogue had changed. */
  readonly hasCatalogueChanged: boolean;
  readonly isApplying: boolean;
  readonly onApply: () => void;
}

/** Shows what a catalogue file would change and which of its lines are wrong, with a button that applies the changes. */
export function ImportPreview(props: ImportPreviewProps) {
  const { fileName, plan, hasCatalogueChanged, isApplying, onApply } = props;
  const { changed: changedCount, unknown: unknownCount, wrong: wrongCount } = plan;
  const counts = [
    [texts.rows, plan.rows],
    [texts.changed, changedCount],
    [texts.unchanged, plan.unchanged],
    [texts.unknownRows, unknownCount],
    [texts.wrongRows, wrongCount],
  ] as const;
  return (
    <Stack component="section" aria-label={texts.preview(fileName)}>
      <Title order={3} size="h5" className={classes.wrapped ?? ''}>
        {texts.preview(fileName)}
      </Title>
      {hasCatalogueChanged && (
        <Alert
          color="eosin" // the theme's rose, named after the stain
          variant="outline"
          icon={<IconAlertTriangle aria-hidden />}
          title={texts.changedMeanwhile}
        >
          {texts.changedMeanwhileHint}
        </Alert>
      )}
      {/* Turkish spreadsheet programs may write the encoding Windows-1254 instead of UTF-8. */}
      {plan.encoding === 'windows-1254' && <Text>{texts.readAsTurkish}</Text>}
      <dl className={classes.counts}>
        {counts.map(([label, count]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{formatNumber(count)}</dd>
          </div>
        ))}
      </dl>
      <Problems title={texts.wrongList} lines={plan.wrong_lines} total={wrongCount} isWrong />
      <Problems title={texts.unknownList} lines={plan.unknown_lines} total={unknownCount} />
      {changedCount > 0 && (
        <LineList
          title={texts.changesList}
          hint={
            plan.changes.length < changedCount ? texts.firstOnly(plan.changes.length, changedCount) : null
          }
          lines={plan.changes}
        >
          {(change) => <Change change={change} />}
        </LineList>
      )}
      {wrongCount > 0 && <Text c="var(--mantine-color-error)">{texts.correctFirst}</Text>}
      {wrongCount === 0 && changedCount === 0 && <Text>{texts.nothingToApply}</Text>}
      {wrongCount === 0 && changedCount > 0 && (
        <Button className={classes.apply ?? ''} loading={isApplying} onClick={onApply}>
          {texts.apply(changedCount)}
        </Button>
      )}
    </Stack>
  );
}

interface ProblemsProps {
  readonly title: string;
  readonly lines: readonly ImportProblem[];
  /** Number of such lines in the whole file; `lines` may contain fewer. */
  readonly total: number;
  /** Whether the lines are errors, which prevent the import. */
  readonly isWrong?: boolean;
}

/** Lists the unknown lines of the file (which match no slide) or the wrong ones, with reasons. `subject`: an id, a file name, or empty. */
function Problems({ title, lines, total, isWrong = false }: ProblemsProps) {
  if (total === 0) return null;
  return (
    <LineList
      title={title}
      hint={lines.length < total ? texts.firstProblemsOnly(lines.length, total) : null}
      lines={lines}
    >
      {({ subject, reason }) => (
        <>
          {subject !== '' && <strong>{subject} </strong>}
          <span data-wrong={isWrong || undefined}>{reason}</span>
        </>
      )}
    </LineList>
  );
}

/** The changes of one slide, with the value of each field before and after. */
function Change({ change }: { readonly change: ImportedChange }) {
  return (
    <>
      <strong>{change.file_name}</strong>
      <ul className={classes.changedFields}>
        {change.fields.map(({ field, before, after }) => (
          <li key={field}>
            {fieldLabels[field]}:{' '}
            {before === null ? <span className={classes.nothing}>—</span> : <del>{before}</del>}{' '}
            <span className={classes.nothing} aria-hidden>
              →
            </span>
            <VisuallyHidden>{texts.to}</VisuallyHidden> <ins>{after}</ins>
          </li>
        ))}
      </ul>
    </>
  );
}
