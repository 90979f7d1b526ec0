import { Button, Group, Text } from '@mantine/core';
import toolPanel from './ToolPanel.module.css';
import { texts } from './texts.ts';

interface PartFailedProps {
  /** Names the part that cannot be shown. */
  readonly message: string;
  readonly onRetry: () => void;
  /** Closes the part; undefined when another button closes it. */
  readonly onClose: (() => void) | undefined;
}

/** A panel in the place of a part of the viewer whose code or data could not be loaded. The slide and the measurements stay. */
export function PartFailed({ message, onRetry, onClose }: PartFailedProps) {
  return (
    <div className={toolPanel.panel} role="alert">
      <Text size="sm" fw={600}>
        {message}
      </Text>
      <Text size="sm">{texts.partFailedHint}</Text>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={onRetry}>
          {texts.retry}
        </Button>
        {onClose !== undefined && (
          <Button size="xs" variant="default" onClick={onClose}>
            {texts.close}
          </Button>
        )}
      </Group>
    </div>
  );
}
