import { Button, Stack, Text, Title } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useLocation } from 'react-router';
import { colourTableUrl, descriptorUrl, fetchPixels, thumbnailUrl, tileUrl } from '../../api/images.ts';
import type { OpenedLink } from '../../api/share-links.ts';
import { CenteredPage } from '../../components/CenteredPage.tsx';
import { LanguageChoice } from '../../components/LanguageChoice.tsx';
import { Loading } from '../../components/Loading.tsx';
import { PasswordField } from '../../components/PasswordField.tsx';
import { texts as commonTexts } from '../../language/texts.ts';
import { useStateAcrossLanguages } from '../../language/use-state-across-languages.ts';
import type { FetchPixels } from '../../viewer/pixels.ts';
import { createDescriptorSupply } from '../../viewer/preload.ts';
import type { TourStep } from '../../viewer/tour/steps.ts';
import { Tour, type TourPixels } from '../../viewer/tour/Tour.tsx';
import type { ViewedSlide } from '../../viewer/viewed-slide.ts';
import classes from './SharedPage.module.css';
import { itemOfStep, type ShownItem } from './shown-items.ts';
import { texts } from './texts.ts';
import { useSharedLink } from './use-shared-link.ts';

/** The page of a share link (`/shared#secret`), which shows one or several slides to visitors without an account. */
export function SharedPage() {
  const { hash } = useLocation();
  const secret = hash.replace(/^#/, '');
  if (secret === '') return <Notice heading={texts.failedHeading} text={texts.secretMissing} />;
  return <SharedLink key={secret} secret={secret} />;
}

function SharedLink({ secret }: { readonly secret: string }) {
  /** Index of the shown slide; stays the same when the visitor changes the language. */
  const [stepIndex, setStepIndex] = useStateAcrossLanguages(`step of share link ${secret}`, 0);
  // The hook needs `stepIndex`, because it requests the slide of the current step to check whether the link has ended.
  const { state, submitPassword, retry } = useSharedLink(secret, stepIndex);
  switch (state.kind) {
    case 'opening':
      return <Loading label={texts.opening} />;
    case 'password':
      return <PasswordForm message={state.message} onSubmit={submitPassword} />;
    case 'ended':
      return <Notice heading={texts.endedHeading} text={texts.ended} />;
    case 'failed':
      return <Notice heading={texts.failedHeading} text={state.message} onRetry={() => void retry()} />;
    case 'open':
      return (
        <SharedSlides
          link={state.link}
          items={state.items}
          stepIndex={stepIndex}
          onStepChange={setStepIndex}
        />
      );
  }
}

interface NoticeProps {
  readonly heading: string;
  readonly text: string;
  readonly onRetry?: () => void;
}

function Notice({ heading, text, onRetry }: NoticeProps) {
  return (
    <CenteredPage>
      <Stack>
        <Title order={1} size="h2">
          {heading}
        </Title>
        <Text role="status">{text}</Text>
        {onRetry && <Button onClick={onRetry}>{commonTexts.retry}</Button>}
      </Stack>
    </CenteredPage>
  );
}

interface PasswordFormProps {
  /** Why the last password was not accepted; null before the first attempt. */
  readonly message: string | null;
  readonly onSubmit: (password: string) => Promise<void>;
}

function PasswordForm({ message, onSubmit }: PasswordFormProps) {
  const [password, setPassword] = useState('');
  const [isRunning, setRunning] = useState(false);
  return (
    <CenteredPage>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (password === '') return;
          setRunning(true);
          void onSubmit(password).finally(() => setRunning(false));
        }}
      >
        <Stack>
          <Title order={1} size="h2">
            {texts.passwordHeading}
          </Title>
          <Text c="dimmed">{texts.passwordHint}</Text>
          <PasswordField
            label={texts.password}
            autoComplete="off"
            value={password}
            onChange={({ currentTarget }) => setPassword(currentTarget.value)}
            error={message}
          />
          <Button type="submit" fullWidth loading={isRunning}>
            {texts.open}
          </Button>
        </Stack>
      </form>
    </CenteredPage>
  );
}

interface SharedSlidesProps {
  readonly link: OpenedLink;
  readonly items: readonly ShownItem[];
  readonly stepIndex: number;
  readonly onStepChange: (stepIndex: number) => void;
}

/** Shows the slides of a link one at a time, with their titles, texts and questions. */
function SharedSlides({ link, items, stepIndex, onStepChange }: SharedSlidesProps) {
  const { session_id: session } = link;
  const item = itemOfStep(items, stepIndex);
  const pixels = useMemo((): TourPixels => {
    // A visitor cannot replace an image session (the credential for loading pixels) that the server has rejected, so the requests fail.
    // Independently of this, `useSharedLink` checks whether the link has ended.
    const sessions = {
      get: async () => session,
      replaceRejected: () => Promise.reject(new Error('the link has ended')),
    };
    const fetchShared: FetchPixels = (address, request) => fetchPixels(address, request, sessions);
    const descriptors = createDescriptorSupply(fetchShared); // loads Deep Zoom descriptors (size and tile grid of a slide)
    return { fetchPixels: fetchShared, descriptors, session };
  }, [session]);
  const steps = useMemo(() => items.map(stepOf), [items]);
  const imageId = item?.isAvailable ? item.image_id : null;
  const { mpp_x = null, mpp_y = null, objective_power = null } = item ?? {};
  const slide = useMemo(
    (): ViewedSlide | null =>
      imageId === null
        ? null
        : {
            descriptorUrl: descriptorUrl(imageId),
            colourTableUrl: colourTableUrl(imageId),
            tileUrlOf: (tile, colour) => tileUrl(imageId, tile, colour),
            // `derived` is null, because a link contains no pixel size or objective power that was derived from the other value.
            scale: { mpp: mpp_x, mppY: mpp_y, objectivePower: objective_power, derived: null },
            name: link.title,
            annotatedSlide: null, // the tour itself shows the annotations of a link
          },
    [imageId, link.title, mpp_x, mpp_y, objective_power],
  );
  return (
    <main className={classes.screen} tabIndex={-1}>
      <Tour
        title={link.title}
        steps={steps}
        stepIndex={Math.min(stepIndex, items.length - 1)}
        onStepChange={onStepChange}
        slide={slide}
        thumbnailUrl={imageId === null ? null : thumbnailUrl(imageId, session)}
        pixels={pixels}
        isMovable={link.free_movement}
        collectionId={link.collection_id ?? null}
        isVisitor
        showsAnnotations={link.show_annotations}
        canPresent={false}
        actions={<LanguageChoice />}
      />
    </main>
  );
}

/** Returns the step of the tour that shows an item of the link. */
function stepOf({ isAvailable, image_id, title, text, field, colours, item, question }: ShownItem): TourStep {
  return {
    item: item ?? null, // index in the collection; null when the link is not to a collection
    imageId: isAvailable ? image_id : null,
    title,
    text,
    field: field ?? null,
    colours,
    question: isAvailable ? (question ?? null) : null,
  };
}
