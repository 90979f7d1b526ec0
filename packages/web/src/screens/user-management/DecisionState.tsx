import { Alert, Progress, Stack, Text } from '@mantine/core';
import { nameOf } from '../../formatting/person.ts';
import classes from './Applications.module.css';
import { texts } from './texts.ts';
import type { useDecision } from './use-decision.ts';

/** Shows the progress of approving or rejecting several applicants, and afterwards for which applicants the decision failed. */
export function DecisionState({
  progress,
  failedDecisions,
}: Pick<ReturnType<typeof useDecision>, 'progress' | 'failedDecisions'>) {
  return (
    <>
      {progress !== null && (
        <Stack gap="xs">
          <Progress
            value={(100 * progress.decidedCount) / progress.total}
            transitionDuration={200} // ms
            aria-label={texts.progress(progress.decidedCount, progress.total)}
          />
          <Text size="sm" aria-live="polite">
            {texts.progress(progress.decidedCount, progress.total)}
          </Text>
        </Stack>
      )}
      {failedDecisions.length > 0 && progress === null && (
        <Alert color="red" title={texts.decisionFailed} role="alert">
          <ul className={classes.bulletList}>
            {failedDecisions.map(({ user, message }) => (
              <li key={user.uid}>
                {nameOf(user)}: {message}
              </li>
            ))}
          </ul>
        </Alert>
      )}
    </>
  );
}
