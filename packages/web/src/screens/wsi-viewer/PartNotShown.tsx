import { Button, Group, Text } from '@mantine/core';
import { texts } from './texts.ts';
import classes from './WsiViewer.module.css';

interface PartNotShownProps {
  /** Names the part. */
  readonly message: string;
  readonly onRetry: () => void;
}

/**
 * A message in the place of a part of the screen whose code could not be loaded. The open slide stays. The viewer has a similar component,
 * `PartFailed`, but importing it would enlarge the script of the catalogue, which must stay small.
 */
export function PartNotShown({ message, onRetry }: PartNotShownProps) {
  return (
    <div className={classes.notShown} role="alert">
      <Text size="sm" fw={600}>
        {message}
      </Text>
      <Text size="sm">{texts.partNotShownHint}</Text>
      <Group>
        <Button size="compact-sm" variant="default" onClick={onRetry}>
          {texts.retry}
        </Button>
      </Group>
    </div>
  );
}
