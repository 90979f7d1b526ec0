import { Button, Stack, Text, Title } from '@mantine/core';
import { CenteredPage } from '../../components/CenteredPage.tsx';
import { useUploadActivity } from '../../notifications/upload-activity.ts';
import { texts } from './texts.ts';
import { useReachable } from './use-reachable.ts';

const reload = () => location.reload();

/**
 * The screen that replaces a screen that threw an error while it rendered, or whose script could not be loaded. A script cannot be loaded
 * when the server cannot be reached, or when a newer version of the app has replaced it. When the server can be reached again, this screen
 * reloads the whole page, because a browser may not request a failed script a second time. It leaves that to the user while this tab has
 * uploads, because the reload would end them.
 */
export function ScreenFailed() {
  const hasUploads = useUploadActivity().count > 0;
  const isReachable = useReachable(hasUploads ? null : reload);
  const explanation = isReachable ? texts.explanation : texts.unreachableHint;
  return (
    <CenteredPage>
      <Stack align="center" ta="center" gap="lg" role="status">
        <Title order={1} size="h2">
          {isReachable ? texts.heading : texts.unreachable}
        </Title>
        <Text>{hasUploads ? texts.uploadsHint : explanation}</Text>
        {isReachable && (
          <Button fullWidth onClick={reload}>
            {texts.reload}
          </Button>
        )}
      </Stack>
    </CenteredPage>
  );
}
