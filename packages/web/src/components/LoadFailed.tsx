import { Alert, Button, Text } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import { texts } from '../texts.ts';

interface LoadFailedProps {
  readonly message: string;
  /** Why, where that is known. */
  readonly reason?: string;
  readonly onRetry: () => void;
}

/** Something could not be loaded; it may be asked for again. */
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
