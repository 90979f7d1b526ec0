import { Button, Stack, Text, Title } from '@mantine/core';
import { CenteredPage } from '../../components/CenteredPage.tsx';
import { texts } from './texts.ts';
import { useReachable } from './use-reachable.ts';

const reload = () => location.reload();

/**
 * A screen broke while drawing, or its file could not be loaded: the server cannot be reached, or a newer version has
 * replaced the file. A browser may remember that a file failed, so the whole page is loaded again when the server is back.
 */
export function ScreenFailed() {
  const isReachable = useReachable(reload);
  return (
    <CenteredPage>
      <Stack align="center" ta="center" gap="lg" role="status">
        <Title order={1} size="h2">
          {isReachable ? texts.heading : texts.unreachable}
        </Title>
        <Text>{isReachable ? texts.explanation : texts.unreachableHint}</Text>
        {isReachable && (
          <Button fullWidth onClick={reload}>
            {texts.reload}
          </Button>
        )}
      </Stack>
    </CenteredPage>
  );
}
