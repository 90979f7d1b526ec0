import { Alert, Button, Text } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import { texts } from '../language/texts.ts';

interface LoadFailedProps {
  readonly message: string;
  /** A sentence that states the reason; omitted when it is unknown. */
  readonly reason?: string;
  readonly onRetry: () => void;
}

/** Replaces content that could not be loaded: an error message, in the theme's rose (`eosin`), and a retry button. */
export function LoadFailed({ message, reason, onRetry }: LoadFailedProps) {
  return (
    <Alert color="eosin" variant="outline" icon={<IconAlertCircle aria-hidden />} title={message}>
      {reason !== undefined && <Text mb="sm">{reason}</Text>}
      <Button size="sm" variant="default" onClick={onRetry}>
        {texts.retry}
      </Button>
    </Alert>
  );
}
