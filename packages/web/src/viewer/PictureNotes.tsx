/** Warnings over the slide when the picture is incomplete or its colours are changed. */
import { Button } from '@mantine/core';
import { IconAdjustments, IconAlertTriangle } from '@tabler/icons-react';
import classes from './PictureNotes.module.css';
import { texts } from './texts.ts';

/**
 * The reason why the view is not sharp:
 *
 * - `offline`: the browser has no network
 * - `unreachable`: the server did not respond
 * - `failed`: the server responded with an error
 * - `slow`: tiles have been loading for longer than usual
 */
export type Incompleteness = 'offline' | 'unreachable' | 'failed' | 'slow';

interface PictureNotesProps {
  /** Why the view is not sharp; null while the view is sharp. */
  readonly incomplete: Incompleteness | null;
  readonly onRetry: () => void;
  /** Whether the table that corrects the scanner's colours could not be loaded. The viewer requests it again without a click. */
  readonly hasTableFailed: boolean;
  /** Whether the user has adjusted the colours of the slide. */
  readonly areColoursChanged: boolean;
  readonly onResetColours: () => void;
}

/** Shows warnings over the slide when missing tiles or changed colours could mislead a diagnosis. */
export function PictureNotes({
  incomplete,
  onRetry,
  hasTableFailed,
  areColoursChanged,
  onResetColours,
}: PictureNotesProps) {
  return (
    // This element is always in the page, so that screen readers announce changes of its content.
    <div className={classes.notes} role="status">
      {incomplete !== null && (
        // The style sheet reads `data-grave`. `slow` needs no retry: the tiles are still being loaded.
        <div className={classes.note} data-grave={incomplete !== 'slow' || undefined}>
          <IconAlertTriangle size={18} aria-hidden />
          <span>{texts.incomplete[incomplete]}</span>
          {incomplete !== 'slow' && (
            <Button size="compact-sm" variant="default" onClick={onRetry}>
              {texts.retry}
            </Button>
          )}
        </div>
      )}
      {hasTableFailed && (
        <div className={classes.note} data-grave>
          <IconAlertTriangle size={18} aria-hidden />
          <span>{texts.coloursNotCorrected}</span>
        </div>
      )}
      {areColoursChanged && (
        <div className={classes.note}>
          <IconAdjustments size={18} aria-hidden />
          <span>{texts.coloursChanged}</span>
          <Button size="compact-sm" variant="default" onClick={onResetColours}>
            {texts.resetColours}
          </Button>
        </div>
      )}
    </div>
  );
}
