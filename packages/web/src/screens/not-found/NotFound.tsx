import { Button, Stack, Text, Title } from '@mantine/core';
import { Link } from 'react-router';
import { CenteredPage } from '../../components/CenteredPage.tsx';
import { texts } from './texts.ts';

/** The screen for URLs that match no other screen. */
export function NotFound() {
  return (
    <CenteredPage>
      <Stack align="center" ta="center" gap="lg">
        <Text fz="2.5rem" fw={650} c="dimmed" lh={1}>
          404
        </Text>
        <Title order={1} size="h2">
          {texts.heading}
        </Title>
        <Text>{texts.explanation}</Text>
        <Button component={Link} to="/" fullWidth>
          {texts.home}
        </Button>
      </Stack>
    </CenteredPage>
  );
}
