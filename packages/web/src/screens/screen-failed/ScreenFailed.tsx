import { Button, Stack, Text, Title } from '@mantine/core';
import { CenteredPage } from '../../components/CenteredPage.tsx';
import { useUploadActivity } from '../../notifications/upload-activity.ts';
import { texts } from './texts.ts';
import { useReachable } from './use-reachable.ts';

const reload = () => location.reload();

/**
 * The error screen. It replaces a screen that threw an error while rendering, or whose script could not be loaded because the server was
 * unreachable or a newer version of the app has replaced the script. When the server can be reached again, the error screen reloads the
 * page, because a browser may not request a failed script a second time. While this tab has uploads, which a reload would end, the error
 * screen leaves the reload to the user.
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
