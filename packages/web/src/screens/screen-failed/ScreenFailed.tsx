import { Button, Stack, Text, Title } from '@mantine/core';
import { CenteredPage } from '../../components/CenteredPage.tsx';
import { texts } from './texts.ts';

/** A screen broke while drawing, or its file could not be loaded (a newer version may have replaced it). */
export function ScreenFailed() {
  return (
    <CenteredPage>
      <Stack align="center" ta="center" gap="lg">
        <Title order={1} size="h2">
          {texts.heading}
        </Title>
        <Text>{texts.explanation}</Text>
        <Button fullWidth onClick={() => location.reload()}>
          {texts.reload}
        </Button>
      </Stack>
    </CenteredPage>
  );
}
