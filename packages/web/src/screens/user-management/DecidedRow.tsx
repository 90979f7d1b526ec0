import { Button, Text } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { texts as actionTexts } from '../../components/texts.ts';
import { useSettled } from '../../components/use-settled.ts';
import { nameOf } from '../../formatting/person.ts';
import classes from './Applications.module.css';
import { texts } from './texts.ts';
import type { QueueRow } from './use-queue-rows.ts';

interface DecidedRowProps {
  readonly user: QueueRow['user'];
  readonly decision: NonNullable<QueueRow['decision']>;
  readonly onUndo: () => Promise<void>;
}

/**
 * Row of the queue that says that an applicant was approved, with an undo button, or that the approval was withdrawn. It keeps the height
 * of the row that it replaces. `useQueueRows` recognises these rows by `data-decided`.
 */
export function DecidedRow({ user, decision: { phase, height }, onUndo }: DecidedRowProps) {
  const [isRunning, setRunning] = useState(false);
  // The row appears under the pointer. The undo button is disabled for 700 ms, so that a double click does not undo the approval.
  const isSettled = useSettled(phase, { isInitiallySettled: false });
  const name = nameOf(user);
  const row = useRef<HTMLLIElement>(null);
  // If the approve button of the replaced row had the focus, the browser has moved the focus to the body. This row then gets the focus.
  useEffect(() => {
    if (document.activeElement === document.body) row.current?.focus({ preventScroll: true });
  }, []);

  async function undo() {
    setRunning(true);
    await onUndo();
    setRunning(false);
  }

  return (
    <li ref={row} className={classes.decided} style={{ minHeight: height }} tabIndex={-1} data-decided>
      {phase === 'approved' && <IconCheck size={20} aria-hidden />}
      <Text fw={600} className={classes.decidedText ?? ''}>
        {phase === 'approved' ? texts.approvedRow(name) : texts.withdrawnRow(name)}
      </Text>
      {phase === 'approved' && (
        <Button
          size="sm"
          variant="default"
          disabled={!isSettled}
          loading={isRunning}
          aria-label={`${actionTexts.undo}: ${name}`}
          onClick={() => void undo()}
        >
          {actionTexts.undo}
        </Button>
      )}
    </li>
  );
}
